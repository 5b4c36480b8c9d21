// Adaptive batching: what the gradients of one measured step say about the next global batch
// (shared design "model" 3).
//
// One extra all-reduce gives the mean gradients of the even and of the odd virtual workers; from
// their norms come the cosine φ and the noise scale (McCandlish et al. 2018), averaged with bias
// correction.
// Pure: no clock, no randomness; the state is a value, kept by every rank, in checkpoints and
// given to joiners.
// Units: samples; |G|² and tr Σ in the gradient's units squared.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "elastic_runner/iidp_engine.h"

namespace jabas {

// Raw values of one measured step; each may be negative by noise and is averaged all the same
// (dropping biases upward).
struct GradientMeasurement {
  double similarity = 0;  // φ = cos(g_A, g_B)
  double sqr = 0;         // |G|²  = (B·|g|² − B_h·q)/(B − B_h)
  double trace = 0;       // tr Σ  = (q − |g|²)/(1/B_h − 1/B)
};
// With q = (|g_A|²+|g_B|²)/2 and 1/B_h = (1/B_A + 1/B_B)/2. Nothing if a half is empty or has a
// zero or non-finite norm.
std::optional<GradientMeasurement> measure(const StepOutcome::Halves& halves);

struct AdaptiveState {
  double sqr_sum = 0, trace_sum = 0;  // exponential sums, weight 0.1 for the newest
  double weight = 0;                  // what the sums must be divided by (bias correction)
  double similarity = 0;              // of the last measurement
  double wanted_batch = 0;            // real-valued, within [B_min, B_max]
  std::int64_t next_adjustment = 0;   // first step at which the batch may be adjusted again

  double sqr() const { return weight > 0 ? sqr_sum / weight : 0; }
  double trace() const { return weight > 0 ? trace_sum / weight : 0; }
  // tr Σ/B_0: of a gradient at batch B_0; at least 0, which stands for unknown.
  double variance(std::int64_t base_batch) const {
    return trace() > 0 ? trace() / double(base_batch) : 0;
  }
  bool noise_known() const { return sqr() > 0 && trace() > 0; }
};
// The averages with one more measurement (decay 0.9).
AdaptiveState with_measurement(AdaptiveState state, const GradientMeasurement& measurement);

struct AdaptiveRules {
  std::string policy = "similarity";  // paper | similarity | goodput
  double target = 0;                  // of φ, in (0, 1); not for `goodput`
  double up = 1.1, down = 0.9;        // factors of `paper`
  double batch_min = 0, batch_max = 0;
  double max_factor = 2;     // not for `paper`: change per adjustment at most × or ÷ this
  double hysteresis = 0.05;  // not for `paper`: smaller changes are not made
};
// What `goodput` needs to know of the GPUs at hand: the global batch of most progress per second.
struct GoodputBatch {
  double batch = 0;    // 0 = not known
  std::string reason;  // why not
};
struct WantedBatch {
  double batch = 0;
  std::string reason;  // one phrase for the journal
};
// The wanted global batch after an adjustment, clipped to [batch_min, batch_max]. `best` is called
// by `goodput` alone, and only when the noise is known.
WantedBatch next_wanted_batch(const AdaptiveState& state, const AdaptiveRules& rules,
                              const std::function<GoodputBatch()>& best);

// The first multiple of `adapt_every` after `step`.
std::int64_t next_adjustment_after(std::int64_t step, std::int64_t adapt_every);

}  // namespace jabas
