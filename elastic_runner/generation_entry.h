// How a worker on standby comes into a generation: the first one (or a recovery), or as a joiner
// of a planned one.
// Errors: CommError if the generation broke before its first step; InputError for a checkpoint
//         that cannot be used.
#pragma once

#include "elastic_runner/batch_planner.h"
#include "elastic_runner/training_context.h"

namespace jabas {

// All ranks: who is most advanced gives its state to all. If nobody has trained, rank 0 loads the
// newest good checkpoint when there is one to resume from. Then rank 0 plans the split.
ActiveGeneration enter_first(TrainingContext& context, PreparedGeneration prepared);

// A joiner: waits for the new rank 0's word, meets the others, receives the state and the plan.
// Nothing if the worker was told to leave meanwhile.
std::optional<ActiveGeneration> enter_as_joiner(TrainingContext& context,
                                                PreparedGeneration prepared);

// All ranks of a generation whose communicator is up: state from `giver`, plan from rank 0 (`plan`
// on rank 0 only; made here if empty). `holds_same`: this rank already has the giver's state. Sets
// the trained generation.
ActiveGeneration begin_generation(TrainingContext& context, PreparedGeneration prepared, int giver,
                                  bool holds_same, std::optional<BatchPlan> plan);

// Rank 0's plan for a generation about to begin.
PlanResult plan_generation(const TrainingContext& context, const Prepare& prepare);

}  // namespace jabas
