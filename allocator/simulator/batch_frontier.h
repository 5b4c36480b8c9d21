// The fastest step for every global batch: all (batch, step time) that no other beats in both.
// For policies that know more than the allocator may: the best choice for ANY gain that grows with
// the batch is one of these points.
// Units: samples, seconds.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "allocator/simulator/policy.h"

namespace jabas::sim {

class BatchFrontier {
 public:
  // Whether a step of this time at this batch would be new: not slower than a point of at least
  // this batch.
  bool admits(std::int64_t batch, double step_s) const;
  // Must be admitted.
  void add(const Plan& point);
  // By ascending batch, and so by ascending step time.
  const std::map<std::int64_t, Plan>& points() const { return points_; }

 private:
  std::map<std::int64_t, Plan> points_;
};

// Adds what virtual workers with one local batch can do on a set (exact: StepSolver), within the
// workload's batch limits; nothing if the set cannot run them.
void add_identical_workers(const GpuCounts& gpus, const Setting& setting, BatchFrontier* frontier);

// Adds what a set can do when every GPU type has a local batch of its own and one worker for each
// GPU, in one pass a step; accumulate: in any number of passes.
void add_uneven_batches(const GpuCounts& gpus, const Setting& setting, bool accumulate,
                        BatchFrontier* frontier);

}  // namespace jabas::sim
