// A whole run without training: a console, and a scripted worker for every member job the fake
// Slurm runs. They speak real ZeroMQ to a real daemon. Workers do what real ones do on the control
// channel; steps are taken when the test says so. Threads: one owner; the daemon runs elsewhere.
// Errors: until() throws when its deadline passes.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/jabasd/fake_peer.h"
#include "tests/support/fake_slurm_client.h"

namespace jabas {

class FakeWorld {
 public:
  FakeWorld(FakeSlurmClient* slurm, std::string run_dir, int base_workers = 0);

  void say_hello(const TrainingSpec& spec, const std::vector<std::string>& arguments = {},
                 const std::string& console_id = "console");
  // Console and workers again, as real clients do when their connection was lost.
  void say_hello_again();
  // Runs everybody until the condition holds; throws std::runtime_error naming `what` after 20 s.
  void until(const std::string& what, const std::function<bool()>& condition);

  // Rank 0 of the generation that trains says how far it is, with so much left of the epoch.
  void progress(int epoch, double seconds_left);
  // Every rank's own times of a pass at local batch 32.
  void worker_times(double forward_and_backward_s);
  // The boundary after `epoch`: its report, then the committed switch if there is one.
  void end_epoch(int epoch);
  // The last epoch is done.
  void finish(int epoch);
  // A worker that says nothing any more.
  void kill_worker(const std::string& id);
  void fault(int epoch, const std::string& reporter);

  const std::vector<PlanMember>& training() const { return training_; }
  int generation() const { return generation_; }
  bool switch_committed() const { return committed_generation_ > 0; }
  int committed_size() const;  // 0 = none committed
  int ready_workers() const { return int(workers_.size()); }
  std::vector<std::string> worker_ids() const;
  std::map<std::string, int> trained_gpus() const;
  const std::vector<Stop>& console_stops() const { return stops_; }
  const Status& last_status() const { return status_; }
  int welcomes() const { return welcomes_; }
  FakePeer& console() { return *console_; }
  // Types that workers were asked to measure, in order.
  const std::vector<std::string>& calibrated() const { return calibrated_; }

  bool answer_calibrations = true;
  std::map<std::string, double> s_per_sample;  // by type, for calibrations; else 0.001

 private:
  struct FakeWorker {
    std::unique_ptr<FakePeer> peer;
    std::set<std::uint64_t> seen;
    bool welcomed = false;
  };
  void step();
  void start_missing_workers();
  void handle_console(const Envelope& envelope);
  void handle_worker(const std::string& id, const Envelope& envelope);
  void leave(const std::string& id);
  Calibration calibration(const std::string& type) const;
  void start_generation(int generation, int attempt, int epoch);
  FakePeer& rank0();
  PeerKeys keys() const;
  Hello worker_hello(const std::string& id) const;

  FakeSlurmClient* slurm_;
  Hello console_hello_;
  std::string run_dir_;
  int base_workers_;
  std::unique_ptr<FakePeer> console_;
  std::map<std::string, FakeWorker> workers_;
  std::set<std::string> started_, leaving_;
  std::vector<PlanMember> training_;
  std::map<std::pair<int, int>, Prepare> prepared_;
  int generation_ = 0, committed_generation_ = 0, committed_attempt_ = 0, epoch_ = 1;
  std::vector<Stop> stops_;
  Status status_;
  int welcomes_ = 0;
  std::vector<std::string> calibrated_;
  std::chrono::steady_clock::time_point next_heartbeat_;
};

}  // namespace jabas
