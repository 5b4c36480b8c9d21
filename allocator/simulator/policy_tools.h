// What several policies of the simulator share. Pure.
// Units: seconds, samples.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "allocator/simulator/batch_frontier.h"
#include "allocator/simulator/policy.h"

namespace jabas::sim {

// The workload's batch limits.
BatchRules batch_rules(const Setting& setting);

// Throws InputError with the reason if there is no choice.
Plan plan_of(const GpuCounts& gpus, const BatchChoice& choice);

// Every GPU gets the same number of samples of a wanted global batch in equal passes, V = 1; the
// slowest GPU sets the pace. Within 2.5 % of the wanted batch the highest throughput, else the
// nearest. Throws InputError if the GPUs have no local batch in common.
Plan equal_split(double wanted_batch, const GpuCounts& gpus, const Setting& setting);

// The least time for one unit of progress; `gain` of one step at a batch. nullptr if there is no
// point.
const Plan* fastest_progress(const BatchFrontier& frontier,
                             const std::function<double(double)>& gain);

// Every set with 0, 1 or an even number of GPUs of each type, not empty. Throws UsageError if there
// are more than can be looked at.
std::vector<GpuCounts> counted_sets(const GpuCounts& available);
// Those of them with one type only.
std::vector<GpuCounts> one_type_sets(const GpuCounts& available);

// The cosine of the gradients of two half batches that is expected at this global batch: derived
// from the noise, not measured.
double expected_similarity(double batch, const GradientNoise& noise);
// The batch at which that is `target`.
double batch_of_similarity(double target, const GradientNoise& noise);

}  // namespace jabas::sim
