// Builds the policy's input from the run, the member jobs and what was fetched. Pure.
// Errors: none; a type without a price counts 0 and is named by missing_price.
#pragma once

#include <string>
#include <vector>

#include "allocator/scaling_policy.h"
#include "spank_plugin/jabasd/decision_inputs.h"
#include "spank_plugin/jabasd/member_jobs.h"
#include "spank_plugin/jabasd/run.h"

namespace jabas {

// GPU types the run may use, in name order.
std::vector<std::string> usable_types(const Run& run);
// The first of them without a price; "" when all have one.
std::string missing_price(const std::vector<std::string>& types, const PriceList& prices);

// GPUs of each usable type that Slurm could give now; 0 for a type that pends for resources or
// backs off.
GpuCounts free_supply(const Run& run, const std::vector<NodeRow>& nodes, const MemberJobs& jobs,
                      int unit, double now_s);

struct DecisionContext {
  bool start = false;  // the first decision of the run
  int next_epoch = 1;  // the one the set is for
  double now_s = 0, startup_s = kAssumedStartup_s;
  double boundary_s = 0;  // expected time of the boundary at which the set changes, UNIX seconds
  int unit = 1;
  std::string objective;
};
// `inputs` must be without problem.
DecisionState decision_state(const Run& run, const MemberJobs& jobs, const DecisionInputs& inputs,
                             const Profile& profile, const DecisionContext& context);

}  // namespace jabas
