// The per-job daemon: one event loop that turns messages, Slurm's answers and the passing of time
// into events of the state machine, and performs its actions. Journals first, then acts.
//
// Fits: owns the control channel, the member jobs, the coordinator of generations and the run;
// decides with the allocator library. Split over daemon*.cpp by what drives it: loop and state
// machine, messages, decisions, speeds, generations, end. Threads: everything here runs on the
// thread that calls run(); blocking calls are in BackgroundCalls. Errors: what a console or worker
// does wrong is answered or counted; run() throws only for what it cannot go on without.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "allocator/generation_coordinator.h"
#include "spank_plugin/jabasd/background_calls.h"
#include "spank_plugin/jabasd/control_server.h"
#include "spank_plugin/jabasd/decision_inputs.h"
#include "spank_plugin/jabasd/epoch_machine.h"
#include "spank_plugin/jabasd/membership.h"
#include "spank_plugin/jabasd/planner.h"
#include "spank_plugin/jabasd/replay.h"
#include "spank_plugin/jabasd/run.h"
#include "spank_plugin/jabasd/run_journal.h"
#include "spank_plugin/jabasd/run_profile.h"
#include "spank_plugin/jabasd/train_admission.h"
#include "spank_plugin/jabasd/worker_table.h"
#include "spank_plugin/options.h"

namespace jabas {

struct DaemonTimings {
  double worker_silence_s = 5, console_silence_s = 10;
  double squeue_s = 2, status_s = 1, waiting_note_s = 60;
  double leave_s = 10;  // for members to end by themselves after a switch or the end of the run
  double gone_s = 30;   // for Slurm to show none, then the leftovers are named
  double drain_s = 8;   // the same after SIGTERM, within what the supervisor allows
  double start_grace_s = 5;       // with the minimum ready: for members that are starting too
  double start_allowance_s = 30;  // with no minimum: for the whole first set, beyond --jabas-wait
  double last_words_s = 1;        // for messages of workers whose job has ended
  double retry_s = 1;  // before a dropped generation or a postponed decision is tried again
};

struct DaemonConfig {
  std::string run_dir, cluster, user, host, bind_address, interface_note;
  Options options;
  long lead_job_id = 0;
  int restart = 0;
  DaemonTimings timings;
};

class Daemon {
 public:
  // Reads the journal, takes the old port where possible, publishes `endpoint` and `owner`, records
  // `job`.
  Daemon(DaemonConfig config, std::shared_ptr<SlurmClient> slurm);

  // Until SIGTERM: `stop_fd` becomes readable. Members are cancelled before it returns.
  void run(int stop_fd);

  RunState state() const { return state_; }
  int undefined_events() const { return undefined_events_; }
  const std::string& endpoint() const { return server_.endpoint(); }
  const ControlCounters& control_counters() const { return server_.counters(); }

 private:
  // daemon.cpp: loop and state machine
  void publish();
  void look_up_lead();
  void tick();
  void fire(RunEvent event);
  void perform(RunAction action);
  void send_status(double now_s);
  void tell_console(const std::string& line);

  // daemon_messages.cpp
  void on_received(const std::string& from, const Message& message);
  void on_console_hello(const std::string& from, const Hello& hello);
  void on_worker_hello(const std::string& from, const Hello& hello);
  void on_progress(const Progress& progress);
  void on_epoch_report(const EpochReport& report);
  void begin_run(const std::string& from, const Hello& hello, const Admission& admission);
  bool adopt_run(const std::string& from, const Hello& hello, const Admission& admission);
  void refuse(const std::string& to, const std::string& reason);
  void lose_worker(const std::string& id, const std::string& why);
  void worker_leaves(const std::string& id, const std::string& reason);

  // daemon_decisions.cpp
  void fetch_and_decide(int next_epoch);
  void on_inputs(const DecisionInputs& inputs, int next_epoch);
  void decide_now(const DecisionInputs& inputs, int next_epoch);
  void consider_decision(double now_s);
  double remaining_s(double now_s) const;
  bool accept_prices(const DecisionInputs& inputs, bool start);
  void keep_requests_current();
  void on_member_change(const MemberChange& change);
  void lose_ended_workers(double now_s);
  MemberNeed member_need(const std::string& gpu_type) const;
  MemberTemplate member_template() const;
  std::vector<PlanUnit> plan_units() const;
  std::string waiting_note() const;

  // daemon_profile.cpp
  std::string to_calibrate(const Worker& worker);
  void on_calibration(const std::string& from, const Calibration& calibration);
  void on_worker_times(const std::string& from, const WorkerTimes& times);
  void journal_corrections();
  void note_gpus_per_node();
  void choose_probes(int next_epoch, const GpuCounts& wanted, const GpuCounts& free,
                     std::vector<std::string>* notes);
  GpuCounts probes() const;

  // daemon_generations.cpp
  void apply(const CoordinatorOutput& output);
  void on_fact(const GenerationEvent& event);
  void on_switched(const GenerationEvent& event);
  void consider_generation(double now_s);
  void consider_resize(double now_s);
  bool start_set_ready(double now_s);
  void prepare(bool first);
  GenerationPlan next_generation() const;
  std::vector<PlanMember> ready_base() const;
  std::string type_of(const Worker& worker) const;
  std::string profile_json() const;
  void notice_ready_members();

  // daemon_end.cpp
  void end_run(const std::string& end_state, const std::string& reason, int exit_code);
  void release_all();
  void cancel_all();
  void record_end();
  void consider_end(double now_s);

  DaemonConfig config_;
  std::string lead_;  // "<lead>.<restart>"
  Replay replay_;
  RunJournal journal_;
  ControlServer server_;
  std::shared_ptr<SlurmClient> slurm_;
  std::shared_ptr<PriceSource> prices_;
  BackgroundCalls calls_;
  Membership membership_;
  RunProfile profile_;
  std::map<std::string, std::string> calibrating_;  // GPU type -> worker that measures it
  std::map<std::string, double> probes_;  // GPU types asked for to be measured -> until when
  std::set<std::string> probed_;          // also those that could not be had
  std::string incarnation_;

  RunState state_ = RunState::kStarting;
  int undefined_events_ = 0;
  bool exit_ = false;
  std::optional<Run> run_;
  int last_run_ = 0, last_generation_ = 0;
  WorkerTable workers_;
  struct LastWords {
    std::string worker_id, why;
    double until_s;
  };
  std::vector<LastWords> last_words_;  // workers whose job has ended
  GenerationCoordinator coordinator_;
  std::vector<PlanMember> trained_before_;  // the generation before the next switch
  std::vector<std::pair<std::string, Hello>>
      early_hellos_;  // of workers, before the console's after a restart

  // The lead's own GPU type must be known before a console is answered.
  enum class LeadLookup { kRunning, kDone };
  LeadLookup lead_lookup_ = LeadLookup::kRunning;
  std::vector<std::pair<std::string, Hello>> early_consoles_;
  std::vector<NodeRow> nodes_;  // of the last decision
  std::optional<LeadInfo> lead_info_;
  PriceList price_list_;
  bool fetching_ = false;
  double fetch_again_s_ = 0;  // not before
  std::string last_postponement_, last_price_warning_, last_note_;

  double console_heard_s_ = 0;  // steady
  double next_status_s_ = 0, next_note_s_ = 0, prepare_not_before_s_ = 0;
  double end_since_s_ = 0;
  bool cancelled_at_end_ = false;
};

}  // namespace jabas
