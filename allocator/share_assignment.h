// Shares a number of virtual workers out to GPUs whose limits are given: with the fewest streams,
// among those with the fewest accumulation steps, exactly (the ties of shared design "model" 5).
// Threads: pure.
//
// How: an integer programme with one row. Its linear relaxation is solved by filling all types
// along the lower convex hulls of (workers, cost) in the order of slopes; that gives nearly every
// GPU its share, and every other choice a reduced cost ≥ 0 against it. An optimum exists in which
// few GPUs differ from it: if more than (largest way up) + (largest way down) − 1 did, one could
// order them so that two partial sums of their differences were equal (Steinitz), and setting back
// those between would cost nothing. So dynamic programming over few GPUs of each type and a small
// window of sums finds it, whatever the number of GPUs.
#pragma once

#include <cstdint>
#include <vector>

#include "allocator/config_solver.h"
#include "allocator/worker_sums.h"

namespace jabas {

// By type, for each of its GPUs; more workers first. `workers` must be a sum (is_sum).
std::vector<std::vector<GpuShare>> fewest_streams(const std::vector<ShareLimits>& types,
                                                  std::int64_t workers);

}  // namespace jabas
