// The life of a training worker: standby → generation → epochs of steps → boundary → … → finished,
// left or stopped. Survivors of a fault go back to standby with their state and wait for the
// recovery's generation.
//
// First generation and recovery are one piece of code (generation_entry); the planned switch is
// resize_switch.
// Threads: one (the worker's main thread).
// Errors: CommError is handled here (a fault); InputError and UsageError end the worker.
#pragma once

#include <memory>
#include <optional>

#include "elastic_runner/progress_reporter.h"
#include "elastic_runner/step_runner.h"
#include "elastic_runner/training_context.h"

namespace jabas {

class Trainer {
 public:
  explicit Trainer(TrainingContext& context);
  // Returns when the worker has nothing left to do; its last message has been queued.
  ExitCode run();

 private:
  enum class End { kFinished, kLeft, kReleased, kStopped, kLeaseLost, kRegroup };

  // Nothing = leave without having been in a generation (any more).
  std::optional<ActiveGeneration> stand_by();
  End train(ActiveGeneration& generation);
  // The rest of the present epoch; an end only if the run must not go on.
  std::optional<End> train_epoch(ActiveGeneration& generation);
  std::optional<End> obey(const ActiveGeneration& generation, const ControlVector& flags);
  void close_epoch(ActiveGeneration& generation);
  // The sums over all ranks. Sets the state's test accuracy.
  Evaluation evaluate(ActiveGeneration& generation);
  End finish(ActiveGeneration& generation);
  void report_switch(ActiveGeneration& generation);
  void checkpoint();
  void wait_for_checkpoint();
  void export_weights();
  ExitCode leave(End end);

  TrainingContext& context_;
  StepRunner steps_;
  ProgressReporter reporter_;
  std::unique_ptr<CheckpointWriter> checkpoints_;  // made when this worker first is rank 0
};

}  // namespace jabas
