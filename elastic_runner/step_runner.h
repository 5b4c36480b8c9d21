// One training step of this rank: which samples, which learning rate, what is measured; then what
// follows from it: the ledger's mark, the state, and every p steps the next batch, decided by rank
// 0 and broadcast.
// Errors: CommError; the state then is as before the step.
#pragma once

#include "elastic_runner/control_flags.h"
#include "elastic_runner/training_context.h"

namespace jabas {

class StepRunner {
 public:
  explicit StepRunner(TrainingContext& context) : context_(context) {}

  // The next step of the present epoch. The outcome's control vector holds the sums.
  StepOutcome run(ActiveGeneration& generation);
  // Decisions about the batch since the last call; rank 0 only.
  std::vector<BatchDecision> take_decisions();

 private:
  StepPlan plan_step(const ActiveGeneration& generation, const struct StepSlices& slices);
  std::vector<std::vector<std::int64_t>> expected_slices(const ActiveGeneration& generation,
                                                         const struct StepSlices& present) const;
  double learning_rate(std::int64_t step_samples) const;
  ControlVector own_flags();
  void adapt(ActiveGeneration& generation, const StepOutcome& outcome);
  BatchPlan decide(const ActiveGeneration& generation, const StepOutcome& outcome);

  TrainingContext& context_;
  std::vector<std::int64_t> order_;
  int order_epoch_ = 0;
  std::int64_t unreported_overruns_ = 0;
  double slowest_step_s_ = 0;
  std::vector<BatchDecision> decisions_;
};

}  // namespace jabas
