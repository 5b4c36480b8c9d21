// The sets of GPUs that could come next: every vector of counts by type that the limits, the base
// GPUs, the unit and what Slurm has free allow (shared design "model" 7). Pure.
#pragma once

#include <string>
#include <vector>

#include "allocator/scaling_policy.h"

namespace jabas {

// What the run has now, base GPUs included, without types that the state does not describe.
GpuCounts present_set(const DecisionState& state);

struct CountRange {
  std::string type;
  int first = 0, last = 0;  // first, first + unit, … ≤ last
};
// By type: [max(MIN, base), min(MAX, held + free)] in units above the base GPUs. MIN binds the
// start only: later a range that Slurm cannot fill begins at what is there. A type the profile
// lacks is used up to its MIN and no further. At a start with nothing to be had at all every set up
// to MAX is possible: Slurm queues what is asked for.
std::vector<CountRange> count_ranges(const DecisionState& state);

// All vectors of the ranges, in a fixed order, and the present set if it is not among them.
std::vector<GpuCounts> candidates(const DecisionState& state);

// The types of which the set has fewer GPUs than MIN although the ranges allow MIN.
std::vector<std::string> types_below_minimum(const DecisionState& state, const GpuCounts& gpus);

}  // namespace jabas
