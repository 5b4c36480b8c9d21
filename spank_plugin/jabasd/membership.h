// The member jobs of the daemon, with their effects: submits, cancels, asks squeue, journals what
// changed, counts the cost.
//
// Fits: between the pure table (member_jobs) and Slurm; every Slurm call runs in the background.
// The listener hears of each change after it was journalled. Units: UNIX seconds.   Threads: the
// event loop only.   Errors: a Slurm call that fails is journalled once and tried again.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "spank_plugin/jabasd/background_calls.h"
#include "spank_plugin/jabasd/cost_meter.h"
#include "spank_plugin/jabasd/member_jobs.h"
#include "spank_plugin/jabasd/member_submission.h"
#include "spank_plugin/jabasd/run_journal.h"

namespace jabas {

class Membership {
 public:
  using Listener = std::function<void(const MemberChange& change)>;
  Membership(std::shared_ptr<SlurmClient> slurm, BackgroundCalls* calls, RunJournal* journal,
             std::string job_name, double squeue_interval_s);

  void set_listener(Listener listener) { listener_ = std::move(listener); }
  // Costs of a new run are counted there.
  void set_meter(CostMeter* meter) { meter_ = meter; }

  // Journals the request, then submits. `need.request` is filled in.
  void ask(const MemberTemplate& run, MemberNeed need);
  // The workers of the member are all ready.
  void ready(Member& member);
  // It may end by itself; after `deadline_s` it is cancelled.
  void release(Member& member, const std::string& reason, double deadline_s);
  void cancel(Member& member, const std::string& reason);
  // Everything with this run's job name, known or not. Tried again until Slurm has answered.
  void cancel_all();
  // Cancels members of an earlier life of the same lead job.
  void cancel_named(const std::string& job_name);
  void poll_every(double squeue_interval_s) { squeue_interval_s_ = squeue_interval_s; }
  void tick();

  MemberJobs& jobs() { return jobs_; }
  const MemberJobs& jobs() const { return jobs_; }
  const std::string& job_name() const { return job_name_; }
  // Nothing submitted, pending or running.
  bool nothing_left() const { return !jobs_.any_alive() && !jobs_.any_submitting(); }
  // From start to ready of the slowest member so far; `assumed_s` before the first.
  double startup_s(double assumed_s) const { return startup_s_ > 0 ? startup_s_ : assumed_s; }

 private:
  void ask_squeue();
  void on_jobs(const Answer<std::vector<JobRow>>& answer, double asked_s);
  void report(const std::vector<MemberChange>& changes);
  void journal_end(Member& member);
  void problem(const std::string& text);

  std::shared_ptr<SlurmClient> slurm_;
  BackgroundCalls* calls_;
  RunJournal* journal_;
  CostMeter* meter_ = nullptr;
  std::string job_name_;
  double squeue_interval_s_;
  Listener listener_;
  MemberJobs jobs_;
  std::map<int, double> release_deadline_s_;
  double next_squeue_s_ = 0, startup_s_ = 0;
  bool squeue_running_ = false, cancel_all_wanted_ = false, cancel_all_running_ = false;
  std::string last_problem_;
};

}  // namespace jabas
