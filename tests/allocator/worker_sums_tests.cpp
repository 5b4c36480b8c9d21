// Sums of shares against plain enumeration of all sums.
#include <boost/test/unit_test.hpp>
#include <set>

#include "allocator/worker_sums.h"
#include "tests/allocator/share_fixtures.h"

namespace jabas {
namespace {

std::set<std::int64_t> all_sums(const std::vector<ShareLimits>& types) {
  std::set<std::int64_t> sums{0};
  for (const ShareLimits& type : types)
    for (std::int64_t gpu = 0; gpu < type.gpus; ++gpu) {
      std::set<std::int64_t> next;
      for (const std::int64_t sum : sums)
        for (std::size_t v = 1; v <= type.passes.size(); ++v)
          for (std::int64_t passes = 1; passes <= type.passes[v - 1]; ++passes)
            next.insert(sum + std::int64_t(v) * passes);
      sums = std::move(next);
    }
  return sums;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(worker_sums_tests)

BOOST_AUTO_TEST_CASE(least_and_most_of_one_gpu) {
  BOOST_TEST((ShareLimits{1, {2, 3, 1}}.most_workers()) == 6);
  BOOST_TEST((ShareLimits{1, {2, 3, 1}}.least_workers()) == 1);
  BOOST_TEST((ShareLimits{1, {0, 0, 4}}.least_workers()) == 3);
  BOOST_TEST((ShareLimits{1, {0, 0}}.most_workers()) == 0);
}

BOOST_AUTO_TEST_CASE(gaps_stay_gaps) {
  const std::vector<ShareLimits> even{{3, {0, 4}}};  // 2, 4, 6 or 8 on each of three
  for (std::int64_t workers = 0; workers <= 30; ++workers)
    BOOST_TEST(is_sum(even, workers) == (workers >= 6 && workers <= 24 && workers % 2 == 0));
}

BOOST_AUTO_TEST_CASE(equals_plain_enumeration) {
  std::mt19937 random = fixtures::seeded();
  int sums = 0, gaps = 0;
  for (int round = 0; round < 400; ++round) {
    const std::vector<ShareLimits> types = fixtures::random_limits(random);
    const std::set<std::int64_t> expected = all_sums(types);
    for (std::int64_t workers = 0; workers <= *expected.rbegin() + 2; ++workers) {
      const bool found = is_sum(types, workers);
      BOOST_TEST_REQUIRE(found == expected.contains(workers),
                         "round " << round << ", " << workers << " workers");
      ++(found ? sums : gaps);
    }
  }
  BOOST_TEST(sums > 1000);
  BOOST_TEST(gaps > 1000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
