// Which samples each step and each virtual worker takes: every sample exactly once per epoch,
// whatever the resizes.
//
// The order of an epoch is a permutation from (seed, epoch) alone. The position in it is the
// number of samples consumed, so a change of b, N or of the ranks between two steps neither
// repeats nor drops a sample.
// Pure: no state, no clock, no library randomness (the same on every platform).
// Units: samples.
// Last step of an epoch (r samples left, r < b·N): K = ⌈r/b⌉ slices, with BatchNorm min(⌈r/b⌉,
// ⌊r/2⌋), sizes differing by at most 1, for virtual workers 0…K−1. With BatchNorm a single
// left-over sample joins the step before it in slice 0.
#pragma once

#include <cstdint>
#include <vector>

namespace jabas {

// Permutation of 0…samples−1.
std::vector<std::int64_t> epoch_order(std::uint64_t seed, int epoch, std::int64_t samples);

struct StepSlices {
  std::vector<std::vector<std::int64_t>> slices;  // by virtual worker; workers beyond have none
  std::int64_t samples = 0;
  bool full = false;  // exactly N slices of b: may be measured
};

// The step that begins after `consumed` samples of the epoch. `consumed` < order.size().
StepSlices next_step(const std::vector<std::int64_t>& order, std::int64_t consumed,
                     std::int64_t local_batch, std::int64_t virtual_workers, bool batch_norm);

// The slices of virtual workers first … first+count−1, empty ones included.
std::vector<std::vector<std::int64_t>> slices_of_rank(const StepSlices& step, std::int64_t first,
                                                      std::int64_t count);

}  // namespace jabas
