// What the daemon needs of Slurm, as an interface: submit, list, cancel, supply, the lead job.
//
// Units: UNIX seconds, whole GPUs. Threads: called from background threads, possibly two at a time.
// Errors: an Answer without value says why; "Slurm did not answer" is never "there is nothing".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allocator/gpu_set.h"

namespace jabas {

template <typename T>
struct Answer {
  std::optional<T> value;
  std::string problem;  // one line, when there is no value
};

struct MemberSubmission {
  std::vector<std::string> arguments;  // of sbatch, without the program name
  std::map<std::string, std::string> environment;
  std::string script;
};

struct SubmitOutcome {
  enum class Kind {
    kSubmitted,
    kRefused,  // Slurm said no; nothing was submitted
    kUnknown,  // no clear answer: the job may exist, look for its comment
  };
  Kind kind = Kind::kUnknown;
  long job_id = 0;     // with kSubmitted
  std::string reason;  // else
};

// One job as squeue shows it.
struct JobRow {
  long job_id = 0;
  std::string name, comment;
  std::string state;   // long form: PENDING, RUNNING, CANCELLED, …
  std::string reason;  // why it pends, or how it ended
  std::string node;    // "" while pending
  double submit_s = 0, start_s = 0, end_s = 0, preempt_s = 0;  // 0 = not known
};

struct NodeRow {
  std::string node, state;
  bool usable = true;    // not drained, down, reserved, in maintenance, …
  GpuCounts gpus, used;  // by GRES type
  int cpus = 0, idle_cpus = 0;
};

struct LeadInfo {
  std::string state;
  double end_s = -1;     // UNIX time of its limit; -1 = none
  double preempt_s = 0;  // > 0: it is being preempted
  GpuCounts gpus;        // its own
  std::string memory;    // per node, as sbatch takes it ("2000M"); "" = not limited
  std::string partition;
};

class SlurmClient {
 public:
  virtual ~SlurmClient() = default;
  virtual SubmitOutcome submit(const MemberSubmission& submission) = 0;
  // All jobs of this user with that name, ended ones too as long as Slurm remembers them.
  virtual Answer<std::vector<JobRow>> jobs_named(const std::string& job_name) = 0;
  // "" when done; one line when Slurm refused or did not answer. A job already gone is done.
  virtual std::string cancel_named(const std::string& job_name) = 0;
  virtual std::string cancel_job(long job_id) = 0;
  virtual Answer<std::vector<NodeRow>> nodes() = 0;
  virtual Answer<LeadInfo> lead(long job_id) = 0;
};

}  // namespace jabas
