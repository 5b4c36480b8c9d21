// A small training for the simulator's tests: two GPU types, three measured batches, 1,000 steps at
// the smallest.
#pragma once

#include "allocator/simulator/engine.h"
#include "allocator/simulator/policies.h"

namespace jabas::fixtures {

// One virtual worker per GPU; a step of b samples computes for fixed_s + b·sample_s.
inline TypeProfile simulated_type(double fixed_s, double sample_s, double sync_s) {
  TypeProfile type;
  type.gpus_per_node = 4;
  for (const std::int64_t b : {4, 8, 16, 32}) {
    type.points.push_back({b, 1, 0, 0, fixed_s + double(b) * sample_s, 0});
    type.max_streams[b] = 1;
    type.sync_intra.push_back({b, sync_s, 0, 0});
    type.sync_inter.push_back({b, 2 * sync_s, 0, 0});
  }
  return type;
}

// Gains of 1, 3 and 6 at 16, 64 and 256 in the first half, of 1, 3.8 and 12 in the second.
inline sim::Workload small_workload(sim::GainRule rule = sim::GainRule::kMeasured) {
  const auto curve = [](std::int64_t batch, double first_gain, double second_gain) {
    return sim::ProgressCurve{batch,
                              {{500, 500 / first_gain, 0.5, 1, 5},
                               {1000, 500 / first_gain + 500 / second_gain, 0.9, 1, 40}}};
  };
  return sim::Workload("small", {curve(16, 1, 1), curve(64, 3, 3.8), curve(256, 6, 12)}, 4000,
                       rule);
}

inline sim::Setting small_setting(sim::GainRule rule = sim::GainRule::kMeasured) {
  Profile profile;
  profile.types["fast"] = simulated_type(0.01, 0.001, 0.002);
  profile.types["slow"] = simulated_type(0.01, 0.004, 0.004);
  return {small_workload(rule), profile, {{{"fast", 3.6}, {"slow", 0.72}}, "test"}};
}

inline sim::RunResult run_policy(const sim::Setting& setting, const std::string& name,
                                 const sim::Availability& availability) {
  return sim::simulate(setting, *sim::make_policy(name, setting), availability);
}

}  // namespace jabas::fixtures
