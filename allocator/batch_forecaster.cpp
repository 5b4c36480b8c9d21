#include "allocator/batch_forecaster.h"

#include <algorithm>

#include "allocator/batch_choice.h"

namespace jabas {

BatchForecast forecast_batch(const DecisionState& state) {
  const double batch = std::max(clipped(state.wanted_batch, state.batch), 1.0);
  const double noise_ratio = state.noise_history.empty() ? 0 : state.noise_history.back().second;
  return {{{batch, state.epoch_samples, noise_ratio}},
          batch,
          noise_ratio,
          state.adaptive ? "last value" : "fixed"};
}

}  // namespace jabas
