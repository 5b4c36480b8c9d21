// What a training worker tells the daemon and the metrics file: progress about once a second and
// one report per epoch (rank 0), its own typical times (every rank).
// Errors: IoError if the metrics file cannot be opened.
#pragma once

#include <optional>
#include <vector>

#include "elastic_runner/training_context.h"
#include "elastic_runner/typical_times.h"

namespace jabas {

class ProgressReporter {
 public:
  explicit ProgressReporter(TrainingContext& context) : context_(context) {}

  void after_step(const ActiveGeneration& generation, const StepOutcome& outcome,
                  std::vector<BatchDecision> decisions);
  // After the evaluation, whose sums are over all ranks; `state.epoch` is still the finished one.
  void after_epoch(const ActiveGeneration& generation, const Evaluation& evaluation,
                   double evaluation_s);

 private:
  void send_progress(const ActiveGeneration& generation, double loss, double samples_per_s);
  Metrics& metrics();

  TrainingContext& context_;
  std::optional<Metrics> metrics_;  // opened when this worker first is rank 0
  std::vector<BatchDecision> decisions_;
  TypicalTimes typical_;
  StepTimes last_times_;
  double last_loss_ = 0;
  std::int64_t samples_since_ = 0;
  Clock::time_point last_progress_ = Clock::now();
  bool diverged_said_ = false;
};

}  // namespace jabas
