// Profiles for the tests of the allocator: exact numbers to compute with by hand, random ones, and
// the one of a file.
#pragma once

#include <cstdlib>
#include <random>
#include <string>

#include "allocator/profile.h"
#include "allocator/throughput_model.h"

namespace jabas::fixtures {

// A type whose times are in proportion to b·V: no fixed costs, no gain from streams. Seconds per
// sample: 0.1 of data, 0.2 forward, 0.7 backward, times `slowness`.
inline TypeProfile proportional_type(double slowness, int max_streams = 4,
                                     std::int64_t smallest = 8, std::int64_t largest = 64) {
  TypeProfile type;
  for (const std::int64_t b : {smallest, largest})
    for (const int v : {1, max_streams}) {
      const double s = slowness * double(b) * v;
      type.points.push_back({b, v, 0.1 * s, 0.2 * s, 0.7 * s, 0, 0, 0});
      if (max_streams == 1) break;
    }
  type.max_streams = {{smallest, max_streams}, {largest, max_streams}};
  type.gpus_per_node = 2;
  return type;
}

// v100 runs 1,000 samples/s, p100 500; communication costs nothing.
inline Profile two_speeds() {
  Profile profile;
  profile.source = "two speeds";
  profile.types["v100"] = proportional_type(1e-3);
  profile.types["p100"] = proportional_type(2e-3);
  return profile;
}

// Noisy, not monotone, with any gain from streams: what a real measurement may look like at its
// worst.
inline Profile random_profile(std::mt19937& random) {
  const auto uniform = [&](double from, double to) {
    return std::uniform_real_distribution<>(from, to)(random);
  };
  const auto whole = [&](int from, int to) {
    return std::uniform_int_distribution<>(from, to)(random);
  };
  Profile profile;
  for (const char* name : {"a", "b", "c"}) {
    TypeProfile type;
    const double speed = uniform(0.3, 3);
    for (const std::int64_t b : {8, 12, 16}) {
      const int streams = whole(1, 3);
      type.max_streams[b] = streams + whole(0, 1);
      const double gain_of_streams = uniform(0, 1);
      for (int v = 1; v <= streams; v += whole(1, 2)) {
        const double s = speed * double(b) * (1 + (v - 1) * gain_of_streams) * uniform(0.8, 1.2);
        type.points.push_back({b, v, 0.1 * s, 0.3 * s, 0.6 * s, uniform(0, 0.2), 0, 0});
      }
    }
    type.gpus_per_node = whole(1, 4);
    profile.types[name] = type;
  }
  for (int i = whole(0, 3); i > 0; --i) profile.bucket_bytes.push_back(uniform(1, 1e7));
  profile.intra = {1e9, {{0.001, uniform(0.001, 0.01)}, {0.01, uniform(0.01, 0.1)}}};
  profile.inter = {1e8, {}};
  return profile;
}

// Of the slowest type of the set.
inline AllReduceTimes all_reduce(const ThroughputModel& model, const RankedGpus& gpus,
                                 std::int64_t local_batch) {
  AllReduceTimes times;
  for (const std::string& type : gpus.types)
    times = slower(times, model.find(type)->all_reduce(int(gpus.types.size()) * gpus.unit,
                                                       gpus.nodes, local_batch));
  return times;
}

inline std::string source_path(const std::string& relative) {
  const char* root = std::getenv("JABAS_SOURCE_DIR");
  return std::string(root ? root : ".") + "/" + relative;
}

inline Profile resnet50() { return load_profile(source_path("tests/data/resnet50_profile.json")); }

}  // namespace jabas::fixtures
