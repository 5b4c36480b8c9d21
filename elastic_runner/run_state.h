// Where a run stands, apart from its tensors: what a joiner, a recovery and a checkpoint need to
// go on. A value; equal on all ranks of a generation between two steps.
// Units: samples, seconds. Epochs and steps count from 1; `step` is the last committed one.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "allocator/config_solver.h"
#include "elastic_runner/adaptive_batching.h"

namespace jabas {

struct RunState {
  int generation = 0;                 // that trained it last; 0 = fresh
  int epoch = 1;                      // the present one; epochs + 1 when all are done
  std::int64_t samples_consumed = 0;  // of the present epoch
  std::int64_t step = 0;
  std::int64_t local_batch = 0, virtual_workers = 0;  // b, N in force; 0 = not chosen yet
  AdaptiveState adaptive;
  // Sums over the present epoch, for its report.
  std::int64_t epoch_steps = 0;
  double epoch_loss_sum = 0, epoch_train_s = 0;  // Σ loss·samples; seconds inside steps
  std::int64_t emulated_steps = 0, emulation_overruns = 0;  // of the run, all ranks
  double test_accuracy = -1;                                // after the last finished epoch

  std::int64_t global_batch() const { return local_batch * virtual_workers; }
};

std::string to_json_text(const RunState& state);
// Throws ProtocolError naming a missing or ill-typed key.
RunState run_state_from_json(const std::string& text);

// How far a rank is. The most advanced rank of a new generation gives its state to all.
struct RunPosition {
  std::int64_t step = 0, epoch = 1, generation = 0;
  auto operator<=>(const RunPosition&) const = default;
};
RunPosition position_of(const RunState& state);

// The split in force and what led to it: decided by rank 0, broadcast, applied by all ranks at the
// same step.
struct BatchPlan {
  Configuration configuration;  // b, N and (V, a) by rank
  AdaptiveState adaptive;
  std::string reason;
};
std::string to_json_text(const BatchPlan& plan);
BatchPlan batch_plan_from_json(const std::string& text);

}  // namespace jabas
