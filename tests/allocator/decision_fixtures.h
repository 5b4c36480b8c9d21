// A state to decide on, as a run on two types in its third of six epochs would have it; tests
// change what they are about.
#pragma once

#include "allocator/scaling_policy.h"
#include "tests/allocator/profile_fixtures.h"

namespace jabas::fixtures {

// v100 runs 1,000 samples/s and p100 500; an epoch has 48,000 samples, b = 16, and the 12 virtual
// workers divide evenly over each type alone and over all four GPUs. Changing costs nothing unless
// the test says so.
inline DecisionState two_type_state() {
  DecisionState state;
  state.next_epoch = 3;
  state.epochs = 6;
  state.epoch_samples = 48'000;
  state.wanted_batch = 192;
  state.batch = {
      .batch_min = 192, .batch_max = 192, .fixed_local_batch = 16, .current_local_batch = 16};
  state.held = {{"p100", 2}};
  state.supply["v100"] = {.min = 0, .max = 2, .base = 0, .free = 2, .wait_s = 0, .price_per_h = 1};
  state.supply["p100"] = {.min = 0, .max = 2, .base = 0, .free = 0, .wait_s = 0, .price_per_h = 1};
  state.objective = parse_objective("time");
  state.resize_pause_s = 0;
  state.startup_s = 0;
  state.profile = two_speeds();
  return state;
}

// v100 twice as fast as p100; all four GPUs may be had. With the prices of the test.
inline DecisionState priced(const std::string& objective, double v100, double p100,
                            const GpuCounts& held = {{"p100", 2}}) {
  DecisionState state = two_type_state();
  state.objective = parse_objective(objective);
  state.held = held;
  for (auto& [type, supply] : state.supply)
    supply.free = 2 - (held.contains(type) ? held.at(type) : 0);
  state.supply["v100"].price_per_h = v100;
  state.supply["p100"].price_per_h = p100;
  return state;
}

}  // namespace jabas::fixtures
