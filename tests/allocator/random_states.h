// Random decision states and forecasts for the tests of the search: three noisy types, with waits,
// memory limits, base GPUs, minima, units, change costs, any objective, batch policy and forecast.
#pragma once

#include <random>

#include "allocator/batch_forecaster.h"
#include "tests/allocator/decision_fixtures.h"

namespace jabas::fixtures {

inline DecisionState random_state(std::mt19937& random) {
  const auto whole = [&](int from, int to) {
    return std::uniform_int_distribution<>(from, to)(random);
  };
  DecisionState state = two_type_state();
  state.profile = random_profile(random);
  for (auto& [name, type] : state.profile.types) {
    if (whole(0, 2) > 0) continue;
    // Measured exposed times, also such that fall with the number of GPUs.
    for (auto* points : {&type.sync_intra, &type.sync_inter})
      for (const std::int64_t b : {8, 16})
        points->push_back({b, 0.1 * whole(0, 10), 0.05 * whole(-4, 10), 0.1 * whole(-1, 5)});
  }
  state.adaptive = whole(0, 3) > 0;
  state.next_epoch = whole(4, 6);
  state.batch = {.batch_min = 32, .batch_max = 1024, .current_local_batch = whole(8, 16)};
  if (whole(0, 2) == 0) state.batch.fixed_local_batch = whole(8, 16);
  state.wanted_batch = whole(20, 1100);
  state.grad_sqr = whole(0, 1);
  state.grad_var = whole(0, 20);
  state.evaluation_s = whole(0, 3);
  state.minimum_billing_s = whole(0, 500);
  state.epochs_since_change = whole(0, 3);
  state.epochs_per_stay = whole(0, 3);
  state.resize_pause_s = whole(0, 3);
  state.startup_s = whole(0, 10);
  state.start = whole(0, 4) == 0;
  const char* objectives[] = {"time",         "time:0.3",     "time:0",        "cost",
                              "balanced",     "balanced:0.2", "value:3",       "value:900",
                              "deadline:20h", "deadline:3h",  "deadline:100s", "budget:2",
                              "budget:20",    "budget:200",   "paper"};
  state.objective = parse_objective(objectives[whole(0, 14)]);
  state.elapsed_s = whole(0, 1) * whole(0, 1000);
  state.spent_cost = 0.1 * whole(0, 10);
  if (whole(0, 1) == 0) state.rest_progress = whole(1, 10'000);
  state.batch_policy = BatchPolicy(whole(0, 2));
  if (whole(0, 2) == 0) state.noise_history = {{1, whole(1, 30)}};
  state.unit = whole(0, 3) == 0 ? 2 : 1;
  state.held.clear();
  state.supply.clear();
  for (const char* type : {"a", "b", "c"}) {
    TypeSupply& supply = state.supply[type];
    supply = {.max = whole(0, 6),
              .free = whole(0, 6),
              .wait_s = double(whole(0, 1) * whole(0, 40)),
              .price_per_h = 0.5 * whole(0, 8)};
    if (whole(0, 3) == 0) supply.base = whole(0, std::min(1, supply.max));
    if (whole(0, 3) == 0) supply.min = whole(0, supply.max);
    if (!state.start) state.held[type] = whole(0, supply.max);
  }
  if (whole(0, 9) == 0) state.profile.types.erase("b");
  return state;
}

// Up to four pieces, of any batch and noise.
inline BatchForecast random_forecast(const DecisionState& state, std::mt19937& random) {
  const auto whole = [&](int from, int to) {
    return std::uniform_int_distribution<>(from, to)(random);
  };
  BatchForecast forecast = forecast_batch(state);
  if (!state.adaptive || whole(0, 2) == 0) return forecast;
  forecast.next_epoch.clear();
  for (int i = whole(1, 4); i > 0; --i)
    forecast.next_epoch.push_back(
        {whole(320, 10'240) / 10.0, state.epoch_samples / 4, whole(0, 1) * whole(1, 300) / 10.0});
  forecast.later_batch = whole(32, 1024);
  forecast.later_noise_ratio = whole(0, 20);
  return forecast;
}

}  // namespace jabas::fixtures
