// Spreads N virtual workers of local batch b over given GPUs: the fastest (V, a) for each, exactly (shared design
// "model" 4 and 5), and chooses (b, N) for a wanted global batch (model 3).
// Units: seconds, samples.   Threads: const, safe to share.
// Errors: infeasible is a value with a reason, never an exception.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/gpu_set.h"
#include "allocator/profile.h"

namespace jabas {

class ThroughputModel;

struct GpuShare {          // of one GPU
  int streams = 1;         // V
  int accum_steps = 0;     // a, beyond the first; the GPU runs V·(a+1) virtual workers
  int workers() const { return streams * (accum_steps + 1); }
};

struct Configuration {
  std::int64_t local_batch = 0, virtual_workers = 0;
  std::vector<GpuShare> shares;   // in the order of the GPUs given
  double step_s = 0;              // predicted
  double samples_per_s() const { return step_s > 0 ? double(local_batch * virtual_workers) / step_s : 0; }
};

struct Solution {
  std::optional<Configuration> configuration;
  std::string reason;             // why there is none
};

// The GPUs of a set in the order of ranks. `nodes` is the number of distinct nodes (1 = the inner network).
struct RankedGpus {
  std::vector<std::string> types; // index = rank
  int nodes = 1;
  // > 1: `types` has one entry for so many GPUs, which share (V, a): the reference's units. Real runs always have 1.
  int unit = 1;
};
// Canonical form of counts: types in name order, nodes from the profile's gpus_per_node.
RankedGpus ranked(const GpuCounts& gpus, const Profile& profile);

// Minimal max step time over all splits with every GPU ≥ 1 worker. Ties: fewer streams, then fewer accumulation steps.
// The shares are those of the entries of gpus.types; N that the unit does not divide is infeasible.
Solution solve(const RankedGpus& gpus, std::int64_t local_batch, std::int64_t virtual_workers, const ThroughputModel& model);
// Prepares the model for this one call.
Solution solve(const RankedGpus& gpus, std::int64_t local_batch, std::int64_t virtual_workers, const Profile& profile);

// Without any profile: w as even as possible (first ranks one more), V = w, a = 0.
Configuration even_split(int gpus, std::int64_t local_batch, std::int64_t virtual_workers);

struct BatchRules {
  std::int64_t batch_min = 0, batch_max = 0;
  std::int64_t fixed_local_batch = 0;   // > 0: b never changes
  std::int64_t current_local_batch = 0; // ties go to it; 0 = none
  bool needs_two_workers = true;        // an adaptive run keeps N ≥ 2
};
struct BatchChoice {
  std::optional<Configuration> configuration;
  bool clamped = false;                 // no b·N within 2.5 % of the wanted batch, the nearest was taken
  std::string reason;                   // why none, or why clamped
};
// The rule of model 3: highest predicted throughput among |b·N/B − 1| ≤ 2.5 %, else the nearest. With profile == nullptr
// b stays at fixed_local_batch or current_local_batch and the split is even.
BatchChoice choose_batch(double wanted_batch, const RankedGpus& gpus, const BatchRules& rules, const Profile* profile);

// Predicted seconds of one step of a GPU up to publishing its last bucket: D + (D+F+K)·a + F + K (no all-reduce, no update).
// What an emulated device sleeps. Throws InputError if the profile lacks the type.
double compute_time_s(const Profile& profile, const std::string& type, std::int64_t local_batch, int streams, int accum_steps);

}  // namespace jabas
