// An optimistic prediction of a set of GPUs, cheap enough for every candidate: real predictions are
// never faster or cheaper. Used to leave out candidates without predicting them.
//
// A GPU of type t runs at most ρ_t(b) = max_w b·w/t(w) samples/s at local batch b, communication
// left out, so a set runs at most P = max_b Σ_g ρ_g(b), and a step at global batch B takes at least
// B/P + R_last. With B between B_lo and B_hi the rest of the run takes at least
// progress·(B_lo/(P·gain(B_lo)) + R_last/gain(B_hi)), since B/gain(B) and gain(B) never fall when B
// grows. Threads: const, safe to share.   Ownership: state and predictor must outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "allocator/prediction.h"

namespace jabas {

class RateBound {
 public:
  RateBound(const DecisionState& state, const Predictor& predictor);

  // rest_s and rest_cost without the cost of changing; next_epoch_s is infinite, so that nothing is
  // added for stays.
  CandidateResult of(const GpuCounts& gpus) const;

 private:
  double samples_per_s(const GpuCounts& gpus) const;
  double work_s(const Work& work, double samples_per_s, const GpuCounts& gpus) const;

  double least_last_s(const std::string& type, int gpus, int nodes) const;

  const DecisionState& state_;
  const Predictor& predictor_;
  std::int64_t first_batch_ = 1;  // local batch of the first entry below
  std::map<std::string, std::vector<double>>
      rates_;  // by type: samples/s of one GPU at first_batch_, first_batch_ + 1, …
};

}  // namespace jabas
