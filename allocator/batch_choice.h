// choose_batch on a model that was prepared once: for callers that ask for many sets of GPUs
// (config_solver.h says what it answers).
#pragma once

#include "allocator/config_solver.h"
#include "allocator/throughput_model.h"

namespace jabas {

class StepSolver;

// Largest |b·N/B − 1| that counts as the wanted batch.
constexpr double kBatchTolerance = 0.025;

// The local batches that may be used on these GPUs, ascending; empty with the reason.
std::vector<std::int64_t> usable_batches(const StepSolver& solver, const BatchRules& rules,
                                         std::string* reason);

// `wanted_batch` clipped to [batch_min, batch_max] where these are given.
double clipped(double wanted_batch, const BatchRules& rules);

BatchChoice choose_batch_on(double wanted_batch, const RankedGpus& gpus, const BatchRules& rules,
                            const ThroughputModel& model);

}  // namespace jabas
