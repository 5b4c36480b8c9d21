// (b, N) and the split (V, a) by rank for a generation, and after a change of the wanted batch.
// Pure: the same on every rank, but only rank 0's result counts.
// Errors: an impossible split is a value with a reason.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allocator/control_messages.h"
#include "allocator/profile.h"
#include "elastic_runner/run_state.h"

namespace jabas {

struct PlanInput {
  const TrainingSpec& spec;
  const std::vector<PlanMember>& members;  // index = rank
  const Profile* profile = nullptr;        // nullptr = none, or it lacks a type
  int epoch = 1;
};
struct PlanResult {
  std::optional<BatchPlan> plan;
  std::string reason;  // why there is none
};

// For a new generation. An adaptive run at a planned boundary chooses (b, N) afresh for the wanted
// batch; otherwise, and always after a lost worker (`keep`), (b, N) stay if the new set can run
// them.
PlanResult plan_for_generation(const PlanInput& input, const RunState& state, bool keep);
// For a newly wanted batch on the present GPUs; `state.adaptive` already holds it.
PlanResult plan_for_batch(const PlanInput& input, const RunState& state);

// For the policy `goodput`: the global batch of most progress per second on the present GPUs. Not
// known without a profile of all their types.
GoodputBatch goodput_batch(const PlanInput& input, const RunState& state);

// The profile if it knows every member's type, else nullptr.
const Profile* usable_profile(const std::optional<Profile>& profile,
                              const std::vector<PlanMember>& members);

}  // namespace jabas
