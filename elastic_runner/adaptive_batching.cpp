#include "elastic_runner/adaptive_batching.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "allocator/error.h"

namespace jabas {
namespace {

constexpr double kDecay = 0.9;

std::string text(const char* format, double a, double b) {
  char line[160];
  std::snprintf(line, sizeof line, format, a, b);
  return line;
}

WantedBatch by_paper(const AdaptiveState& state, const AdaptiveRules& rules) {
  if (state.similarity < rules.target) {
    return {state.wanted_batch * rules.up,
            text("similarity %.4f is below the target %.4f", state.similarity, rules.target)};
  }
  if (state.similarity > rules.target) {
    return {state.wanted_batch * rules.down,
            text("similarity %.4f is above the target %.4f", state.similarity, rules.target)};
  }
  return {state.wanted_batch,
          text("similarity %.4f is the target %.4f", state.similarity, rules.target)};
}

// Towards `goal`, but not by more than the bound and not for a small gain.
WantedBatch towards(double goal, const std::string& why, const AdaptiveState& state,
                    const AdaptiveRules& rules) {
  const double change = std::clamp(goal, rules.batch_min, rules.batch_max) / state.wanted_batch - 1;
  if (std::abs(change) < rules.hysteresis)
    return {state.wanted_batch, why + ", close to the present one"};
  return {std::clamp(goal, state.wanted_batch / rules.max_factor,
                     state.wanted_batch * rules.max_factor),
          why};
}

WantedBatch noise_unknown(const AdaptiveState& state) {
  return {state.wanted_batch, text("noise scale unknown (averages |G|² %.3g, tr Σ %.3g), kept",
                                   state.sqr(), state.trace())};
}

// Solves φ(B) = target with φ(B) = |G|²/(|G|² + 2·tr Σ/B).
WantedBatch by_similarity(const AdaptiveState& state, const AdaptiveRules& rules) {
  if (!state.noise_known()) return noise_unknown(state);
  const double solved = 2 * state.trace() * rules.target / (state.sqr() * (1 - rules.target));
  return towards(solved, text("similarity %.4f expected at batch %.0f", rules.target, solved),
                 state, rules);
}

WantedBatch by_goodput(const AdaptiveState& state, const AdaptiveRules& rules,
                       const std::function<GoodputBatch()>& best) {
  if (!state.noise_known()) return noise_unknown(state);
  const GoodputBatch found = best();
  if (found.batch <= 0) return {state.wanted_batch, found.reason + ", kept"};
  return towards(found.batch,
                 text("most progress per second at batch %.0f (noise scale %.0f)", found.batch,
                      state.trace() / state.sqr()),
                 state, rules);
}

}  // namespace

std::optional<GradientMeasurement> measure(const StepOutcome::Halves& halves) {
  const double norms = std::sqrt(halves.even_sqr * halves.odd_sqr);
  if (halves.even_samples <= 0 || halves.odd_samples <= 0 || !std::isfinite(norms) || norms <= 0 ||
      !std::isfinite(halves.all_sqr) || !std::isfinite(halves.inner)) {
    return std::nullopt;
  }
  const double batch = double(halves.even_samples + halves.odd_samples);
  const double half = 2 / (1.0 / double(halves.even_samples) + 1.0 / double(halves.odd_samples));
  const double q = (halves.even_sqr + halves.odd_sqr) / 2;
  GradientMeasurement result;
  result.similarity = halves.inner / norms;
  result.sqr = (batch * halves.all_sqr - half * q) / (batch - half);
  result.trace = (q - halves.all_sqr) / (1 / half - 1 / batch);
  return result;
}

AdaptiveState with_measurement(AdaptiveState state, const GradientMeasurement& measurement) {
  state.sqr_sum = kDecay * state.sqr_sum + (1 - kDecay) * measurement.sqr;
  state.trace_sum = kDecay * state.trace_sum + (1 - kDecay) * measurement.trace;
  state.weight = kDecay * state.weight + (1 - kDecay);
  state.similarity = measurement.similarity;
  return state;
}

WantedBatch next_wanted_batch(const AdaptiveState& state, const AdaptiveRules& rules,
                              const std::function<GoodputBatch()>& best) {
  JABAS_ASSERT(state.wanted_batch > 0 && rules.batch_min <= rules.batch_max, rules.policy);
  WantedBatch wanted;
  if (rules.policy == "paper") {
    wanted = by_paper(state, rules);
  } else if (rules.policy == "similarity") {
    wanted = by_similarity(state, rules);
  } else if (rules.policy == "goodput") {
    wanted = by_goodput(state, rules, best);
  } else {
    throw UsageError("--batch-policy=" + rules.policy +
                     ": accepted are paper, similarity and goodput");
  }
  wanted.batch = std::clamp(wanted.batch, rules.batch_min, rules.batch_max);
  return wanted;
}

std::int64_t next_adjustment_after(std::int64_t step, std::int64_t adapt_every) {
  return (step / adapt_every + 1) * adapt_every;
}

}  // namespace jabas
