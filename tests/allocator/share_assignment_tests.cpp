// The shares with the fewest streams, then the fewest accumulation steps, against dynamic
// programming over every GPU and every sum.
#include <boost/test/unit_test.hpp>
#include <limits>
#include <utility>

#include "allocator/share_assignment.h"
#include "tests/allocator/share_fixtures.h"

namespace jabas {
namespace {

using Cost = std::pair<std::int64_t, std::int64_t>;  // streams, accumulation steps
constexpr Cost kNone{std::numeric_limits<std::int64_t>::max(), 0};

// [sum]: of all GPUs
std::vector<Cost> least_costs(const std::vector<ShareLimits>& types, std::int64_t workers) {
  std::vector<Cost> costs(std::size_t(workers) + 1, kNone);
  costs[0] = {0, 0};
  for (const ShareLimits& type : types)
    for (std::int64_t gpu = 0; gpu < type.gpus; ++gpu) {
      std::vector<Cost> next(costs.size(), kNone);
      for (std::size_t v = 1; v <= type.passes.size(); ++v)
        for (std::int64_t passes = 1; passes <= type.passes[v - 1]; ++passes)
          for (std::size_t sum = v * std::size_t(passes); sum < next.size(); ++sum)
            if (const Cost& rest = costs[sum - v * std::size_t(passes)]; rest != kNone)
              next[sum] =
                  std::min(next[sum], {rest.first + std::int64_t(v), rest.second + passes - 1});
      costs = std::move(next);
    }
  return costs;
}

void check(const std::vector<ShareLimits>& types, std::int64_t workers, const Cost& expected) {
  const std::vector<std::vector<GpuShare>> shares = fewest_streams(types, workers);
  BOOST_TEST_REQUIRE(shares.size() == types.size());
  Cost cost{0, 0};
  std::int64_t sum = 0;
  for (std::size_t t = 0; t < types.size(); ++t) {
    BOOST_TEST_REQUIRE(std::int64_t(shares[t].size()) == types[t].gpus);
    for (const GpuShare& share : shares[t]) {
      BOOST_TEST_REQUIRE(share.accum_steps + 1 <= types[t].passes[std::size_t(share.streams) - 1]);
      BOOST_TEST_REQUIRE(share.workers() <= shares[t].front().workers());
      cost.first += share.streams;
      cost.second += share.accum_steps;
      sum += share.workers();
    }
  }
  BOOST_TEST_REQUIRE(sum == workers);
  BOOST_TEST_REQUIRE(cost.first == expected.first);
  BOOST_TEST_REQUIRE(cost.second == expected.second);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(share_assignment_tests)

BOOST_AUTO_TEST_CASE(every_sum_of_random_limits) {
  std::mt19937 random = fixtures::seeded();
  int checked = 0;
  for (int round = 0; round < 300; ++round) {
    const std::vector<ShareLimits> types = fixtures::random_limits(random);
    std::int64_t most = 0;
    for (const ShareLimits& type : types) most += type.gpus * type.most_workers();
    const std::vector<Cost> expected = least_costs(types, most);
    for (std::int64_t workers = 1; workers <= most; ++workers) {
      if (expected[std::size_t(workers)] == kNone) continue;
      check(types, workers, expected[std::size_t(workers)]);
      ++checked;
    }
  }
  BOOST_TEST(checked > 3000);
}

// More GPUs than the ones that are looked at one by one.
BOOST_AUTO_TEST_CASE(many_equal_gpus) {
  std::mt19937 random = fixtures::seeded();
  for (int round = 0; round < 6; ++round) {
    std::vector<ShareLimits> types = fixtures::random_limits(random);
    std::int64_t most = 0;
    for (ShareLimits& type : types) most += (type.gpus = 20 * type.gpus) * type.most_workers();
    const std::vector<Cost> expected = least_costs(types, most);
    for (int i = 0; i < 60; ++i) {
      const auto workers = std::uniform_int_distribution<std::int64_t>(1, most)(random);
      if (expected[std::size_t(workers)] != kNone)
        check(types, workers, expected[std::size_t(workers)]);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
