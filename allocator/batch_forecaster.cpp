#include "allocator/batch_forecaster.h"

#include <algorithm>

#include "allocator/batch_choice.h"

namespace jabas {

BatchForecast forecast_batch(const DecisionState& state) {
  const double batch = std::max(clipped(state.wanted_batch, state.batch), 1.0);
  return {{{batch, state.epoch_samples}}, batch, state.adaptive ? "last value" : "fixed"};
}

}  // namespace jabas
