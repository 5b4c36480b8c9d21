// From the wanted set of GPUs to what must be done: which members to ask for, which to give back,
// who forms the next generation and in which order, and when to decide. Pure. Units: seconds, whole
// GPUs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "allocator/control_messages.h"
#include "allocator/gpu_set.h"

namespace jabas {

// A member job as the planner sees it.
struct PlanUnit {
  int request = 0;
  std::string gpu_type;
  int gpus = 1;
  bool started = false;  // its Slurm job runs
  bool leaving = false;  // released, being cancelled or preempted: not to be used again
  bool ready = false;    // all its workers are warm
  bool in_use = false;   // one of its workers trains or is in a generation in preparation
  std::vector<PlanMember> workers;  // when ready, by local rank
};

struct RequestPlan {
  struct Ask {
    std::string gpu_type;
    int gpus = 1;
    bool operator==(const Ask&) const = default;
  };
  std::vector<Ask> ask;        // one entry per member job
  std::vector<int> give_back;  // requests that are not needed and do not train: cancel at once
};
// `blocked`: types that are not to be asked for now.
RequestPlan plan_requests(const GpuCounts& wanted, const GpuCounts& base,
                          const std::vector<PlanUnit>& members, int unit,
                          const std::set<std::string>& blocked);

struct GenerationPlan {
  std::vector<PlanMember> members;  // index = rank
  bool differs = false;             // from the set that trains
  bool complete = true;             // nothing wanted is still missing
  bool keeps_one_back =
      false;  // an unwanted member stays for one more epoch so that somebody has the state
};
// `training`: the generation that trains now, in rank order (after a loss: its survivors; empty at
// the start). Unwanted members stay as long as wanted ones are missing, one for one, so that a swap
// never shrinks the run.
GenerationPlan plan_generation(const GpuCounts& wanted, const std::vector<PlanMember>& ready_base,
                               const std::vector<PlanMember>& training,
                               const std::vector<PlanUnit>& members);

// Seconds until the end of the epoch, evaluation included; -1 = not known yet.
double remaining_epoch_s(const Progress& progress, double since_report_s, double evaluation_s);

// A decision early enough for a member to be there at the boundary.
double decision_lead_s(double startup_s);
bool time_to_decide(int epoch, int epochs, double remaining_s, double startup_s);

// A complete set is prepared at once, a partly ready one this long before the boundary; from then
// on nothing is replaced.
constexpr double kPrepareLead_s = 2.5;

// The same workers at the same ranks.
bool same_generation(const std::vector<PlanMember>& a, const std::vector<PlanMember>& b);

}  // namespace jabas
