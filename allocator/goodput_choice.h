// Chooses (b, N) for the most progress per second on given GPUs: the least T(b, N) / gain(b·N)
// (shared design "model" 3, policy `goodput`; Pollux, OSDI 2021). Exact: equal to trying every
// (b, N) (goodput_choice_tests).
//
// How: for a local batch b the most workers that a step of time L can hold are W(L) = Σ_g w_g(L),
// w_g(L) the most that GPU g runs within L; they can always be run together, and gain grows with N,
// so only the times of the tables need to be looked at. A straight line under every table gives a
// bound for all N of a b, which leaves most b out.
// Units: seconds, samples.   Threads: safe.   Errors: infeasible is a value with a reason.
#pragma once

#include "allocator/config_solver.h"
#include "allocator/progress.h"
#include "allocator/throughput_model.h"

namespace jabas {

// Global batches outside [batch_min, batch_max] are not chosen; if the GPUs have no other (their
// smallest is above batch_max), the smallest they have, `clamped`. The noise must be known.
// Equal choices: the current local batch, then the smaller global batch, then the larger b.
BatchChoice choose_goodput(const RankedGpus& gpus, const BatchRules& rules,
                           const GradientNoise& noise, const ThroughputModel& model);

}  // namespace jabas
