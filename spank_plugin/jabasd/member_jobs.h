// The table of member jobs: what was asked for, what Slurm made of it, and how to reconcile the
// two. Pure.
//
// Fits: daemon journals each returned change and acts on it. One request = at most one Slurm job =
// `gpus` workers. Units: UNIX seconds; now is an argument.   Threads: one owner. Errors: "squeue
// did not answer" is not passed in; a job absent from one list is not gone, from two in a row it
// is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "allocator/gpu_set.h"
#include "spank_plugin/jabasd/slurm_client.h"

namespace jabas {

enum class MemberState { kSubmitting, kUnknown, kPending, kRunning, kEnded };
std::string to_text(MemberState state);

struct Member {
  int request = 0;
  std::string gpu_type;
  int gpus = 1;
  long job_id = 0;
  MemberState state = MemberState::kSubmitting;
  std::string reason, node;
  double requested_s = 0, submit_s = 0, start_s = 0, end_s = 0;
  double ready_s = 0;     // when all its workers were ready; 0 = not yet
  double preempt_s = 0;   // > 0: Slurm is taking it away
  double cancel_s = 0;    // when we asked Slurm to cancel it; 0 = we did not
  bool released = false;  // it may end: a switch left it behind, or it is not wanted
  int missing_lists = 0;  // successive squeue answers without it
  bool alive() const { return state != MemberState::kEnded; }
};

struct MemberChange {
  enum class Kind { kPending, kRunning, kEnded, kNeverStarts, kPreempted, kSubmitFailed };
  Kind kind;
  int request = 0;
};

class MemberJobs {
 public:
  // Request numbers go on over the runs of one script.
  explicit MemberJobs(int last_request = 0) : last_request_(last_request) {}

  int add(const std::string& gpu_type, int gpus, double now_s);
  // After a restart of the daemon.
  void adopt(const Member& member);
  std::vector<MemberChange> submit_outcome(int request, const SubmitOutcome& outcome, double now_s);
  // `asked_s`: when squeue was started; a job submitted later may rightly be absent.
  std::vector<MemberChange> reconcile(const std::vector<JobRow>& rows, double asked_s,
                                      double now_s);

  Member* find(int request);
  Member* find_job(const std::string& job_id);
  const std::map<int, Member>& all() const { return members_; }
  int last_request() const { return last_request_; }
  // Alive and not being given up, by type.
  GpuCounts outstanding() const;
  bool any_alive() const;
  bool any_submitting() const;
  // A member of the type pends for resources: nothing more of the type can be had now.
  bool pends_for_resources(const std::string& gpu_type) const;

  // Back-off after refusals and members that ended before they were ready: 30 s, doubled each time,
  // at most 10 min.
  void joined(const std::string& gpu_type) { failures_.erase(gpu_type); }
  void failed(const std::string& gpu_type, double now_s);
  bool backing_off(const std::string& gpu_type, double now_s) const;

 private:
  struct Failures {
    int count = 0;
    double until_s = 0;
  };
  void apply(Member& member, const JobRow& row, double now_s, std::vector<MemberChange>* changes);
  void end(Member& member, double now_s, std::vector<MemberChange>* changes);
  int last_request_;
  std::map<int, Member> members_;
  std::map<std::string, Failures> failures_;
};

}  // namespace jabas
