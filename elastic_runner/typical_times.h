// What this rank tells the daemon about its own speed: medians over a stretch of steps with the
// same generation, batch and split.
// Threads: one owner.   Pure but for the time that is given.
#pragma once

#include <optional>
#include <vector>

#include "elastic_runner/training_context.h"

namespace jabas {

class TypicalTimes {
 public:
  // After each step. What is due now: the stretch before, if this step begins another one, and
  // every few seconds what there is.
  std::vector<WorkerTimes> add(const ActiveGeneration& generation, const StepOutcome& outcome,
                               Clock::time_point now);
  // The stretch so far, and begins another one; nothing without steps.
  std::optional<WorkerTimes> take();

 private:
  WorkerTimes stretch_;  // without its medians
  std::vector<StepTimes> steps_;
  std::vector<std::vector<BucketTime>> buckets_;  // by step
  Clock::time_point began_{};
};

}  // namespace jabas
