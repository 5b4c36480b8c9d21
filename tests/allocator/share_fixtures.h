// Random limits of shares for the tests of sums and assignments.
#pragma once

#include <boost/test/unit_test.hpp>
#include <random>
#include <vector>

#include "allocator/worker_sums.h"

namespace jabas::fixtures {

inline std::mt19937 seeded() {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  return std::mt19937(seed);
}

// Up to four types with up to six GPUs each; any V may be left out, and more streams may run fewer
// workers.
inline std::vector<ShareLimits> random_limits(std::mt19937& random) {
  const auto whole = [&](int from, int to) {
    return std::uniform_int_distribution<>(from, to)(random);
  };
  std::vector<ShareLimits> types(std::size_t(whole(1, 4)));
  for (ShareLimits& type : types) {
    type.gpus = whole(1, 6);
    const int workers = whole(1, 12), most_streams = whole(1, 5);
    for (int v = 1; v <= most_streams; ++v)
      type.passes.push_back(whole(0, 2) == 0 ? 0 : (workers + whole(0, 3)) / v);
    type.passes.push_back(whole(1, 2));
  }
  return types;
}

}  // namespace jabas::fixtures
