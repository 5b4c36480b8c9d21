// Chooses (b, N) for a wanted global batch on given GPUs (config_solver.h says by which rule), for
// callers that ask for many batches on the same GPUs: what depends on the GPUs alone is prepared
// once.
// Units: seconds, samples.   Threads: one owner.   Ownership: the model must outlive the chooser.
// Errors: infeasible is a value with a reason.
#pragma once

#include <string>
#include <vector>

#include "allocator/config_solver.h"
#include "allocator/step_solver.h"
#include "allocator/throughput_model.h"

namespace jabas {

// Largest |b·N/B − 1| that counts as the wanted batch.
constexpr double kBatchTolerance = 0.025;

// The local batches that may be used on these GPUs, ascending; empty with the reason.
std::vector<std::int64_t> usable_batches(const StepSolver& solver, const BatchRules& rules,
                                         std::string* reason);

// `wanted_batch` clipped to [batch_min, batch_max] where these are given.
double clipped(double wanted_batch, const BatchRules& rules);

// A choice of (b, N) without the shares of the GPUs, which cost more to find than all the rest.
struct BatchPoint {
  std::int64_t local_batch = 0, virtual_workers = 0;
  double step_s = 0;
  bool clamped = false;  // not within the tolerance
  std::int64_t batch() const { return local_batch * virtual_workers; }
  double samples_per_s() const { return double(batch()) / step_s; }
};

class BatchChooser {
 public:
  BatchChooser(const RankedGpus& gpus, const BatchRules& rules, const ThroughputModel& model);

  // Why no batch can be chosen on these GPUs; "" if one can.
  const std::string& reason() const { return reason_; }
  // Only where reason() is "".
  BatchPoint point(double wanted_batch);
  BatchChoice choose(double wanted_batch);

 private:
  BatchRules rules_;
  std::optional<StepSolver> solver_;
  std::vector<std::int64_t> batches_;  // usable, ascending
  std::string reason_;
};

BatchChoice choose_batch_on(double wanted_batch, const RankedGpus& gpus, const BatchRules& rules,
                            const ThroughputModel& model);

}  // namespace jabas
