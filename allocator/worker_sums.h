// Which total numbers of virtual workers a set of GPUs can run, when each GPU runs V·(a+1) of them
// with a limited number of passes for each V (shared design "model" 5). Whole numbers only.
// Threads: pure.
#pragma once

#include <cstdint>
#include <vector>

namespace jabas {

// What each GPU of a type may run: V streams with 1 … passes[V-1] passes; 0 = V is not admitted.
struct ShareLimits {
  std::int64_t gpus = 0;
  std::vector<std::int64_t> passes;

  // Of one GPU; 0 if it may run nothing.
  std::int64_t least_workers() const;
  std::int64_t most_workers() const;
};

// Can the GPUs run exactly `workers` together, each at least one? Every type must be able to run
// something.
//
// How: all GPUs at their most workers have `most − workers` too many (or, all at their least, some
// too few, if these are fewer); what one GPU can give up is a set of numbers, what n equal GPUs can
// is the n-fold sum of it, by doubling; sets are bits.
bool is_sum(const std::vector<ShareLimits>& types, std::int64_t workers);

}  // namespace jabas
