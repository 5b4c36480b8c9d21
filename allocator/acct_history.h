// What the journal of one job tells, put together: each decision with the epoch and the switch that
// followed it, member jobs in their last known state, batch changes. Read-only; journals in
// progress are normal, so everything that comes later than a decision is optional.
// Units:  UNIX seconds, seconds, US dollars; -1 = not known.
// Errors: read_history throws InputError naming file, line and key for a record that lacks what it
//         must have, IoError if the file cannot be read.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allocator/gpu_set.h"
#include "allocator/scaling_policy.h"

namespace jabas::acct {

struct EpochResult {
  int generation = 0;
  double duration_s = -1, train_s = -1, evaluation_s = -1, cost_usd = -1, predicted_s = -1;
  double loss = std::numeric_limits<double>::quiet_NaN();
  double test_accuracy = -1;
  std::int64_t steps = 0, samples = 0, global_batch = 0;
  std::int64_t emulated_steps = 0, emulation_overruns = 0;  // totals of the run so far
};

struct SwitchResult {
  int generation = 0, attempt = 0;
  double pause_s = -1;
};

// Which run of which job a line belongs to.
struct RunKey {
  std::string cluster, job_id, user;
  int run = 0, restart = 0;
};

struct RunSummary {
  RunKey key;
  std::string state = "running";  // or that of the `end` record; "lost" if a requeue cut it off
  std::string reason;
  int epochs_done = 0, epochs = 0;  // finished; asked for
  double cost_usd = -1, duration_s = -1, test_accuracy = -1;
  bool emulated = false;
  std::int64_t emulated_steps = 0, emulation_overruns = 0;
};

struct DecisionEntry {
  RunKey key;
  double time_s = 0;
  int epoch = 0, epochs = 0;  // the epoch that begins; of how many (0 = unknown)
  Decision decision;
  std::string objective, prices_source;
  GpuCounts free;
  std::map<std::string, double> prices;
  double wanted_batch = 0;
  bool emulated = false;
  std::vector<std::string> notes;
  std::string run_state;                 // "running", or the state in the run's `end` record
  std::optional<EpochResult> result;     // once the epoch is over
  std::optional<SwitchResult> switched;  // if the set changed at its boundary
  std::string record_json;
};

struct MemberEntry {
  RunKey key;
  int request = 0;
  std::string member_job_id, gpu_type, node, state, reason;
  int gpus = 0;
  double submit_s = 0, start_s = 0, end_s = 0;  // 0 = not yet
  bool run_over = false;
};

struct BatchEntry {
  RunKey key;
  double time_s = 0;
  std::int64_t step = 0, global_batch = 0, local_batch = 0, virtual_workers = 0;
  int epoch = 0;
  double wanted_batch = 0, similarity = 0, grad_sqr = 0, grad_var = 0;
  std::string reason;
};

struct JobHistory {
  std::string path, cluster, job_id;
  bool torn_tail = false;
  bool running = false;    // the last run has no `end` record
  double last_time_s = 0;  // of the last record
  std::vector<RunSummary> runs;
  std::vector<DecisionEntry> decisions;
  std::vector<MemberEntry> members;
  std::vector<BatchEntry> batches;
};

// `cluster` and `job_id` (from the path) hold until a `job` record says otherwise.
JobHistory read_history(const std::string& path, const std::string& cluster,
                        const std::string& job_id);

}  // namespace jabas::acct
