#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <random>

#include "elastic_runner/sampler.h"

using namespace jabas;

BOOST_AUTO_TEST_SUITE(sampler_tests)

BOOST_AUTO_TEST_CASE(order_is_a_permutation_that_depends_on_seed_and_epoch) {
  const auto order = epoch_order(7, 1, 1000);
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::int64_t i = 0; i < 1000; ++i) BOOST_TEST_REQUIRE(sorted[std::size_t(i)] == i);
  BOOST_TEST(order != epoch_order(7, 2, 1000));
  BOOST_TEST(order != epoch_order(8, 1, 1000));
  BOOST_TEST(order == epoch_order(7, 1, 1000));
}

// Golden: a checkpoint resumed on another platform must find the same order.
BOOST_AUTO_TEST_CASE(order_never_changes) {
  const std::vector<std::int64_t> expected = {7, 0, 4, 5, 8, 6, 2, 1, 3, 9};
  const auto order = epoch_order(1, 1, 10);
  BOOST_TEST(order == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(position_of_a_sample_is_uniform) {
  double sum = 0;
  for (int epoch = 1; epoch <= 2000; ++epoch) {
    const auto order = epoch_order(3, epoch, 11);
    sum += double(std::find(order.begin(), order.end(), 0) - order.begin());
  }
  BOOST_TEST(sum / 2000 == 5.0, boost::test_tools::tolerance(0.05));
}

BOOST_AUTO_TEST_CASE(full_step_gives_each_worker_a_slice_of_b) {
  const auto order = epoch_order(0, 1, 100);
  const StepSlices step = next_step(order, 10, 4, 5, true);
  BOOST_TEST(step.full);
  BOOST_TEST(step.samples == 20);
  BOOST_TEST_REQUIRE(step.slices.size() == 5U);
  for (int k = 0; k < 5; ++k) {
    const std::vector<std::int64_t> expected(order.begin() + 10 + 4 * k,
                                             order.begin() + 14 + 4 * k);
    BOOST_TEST(step.slices[std::size_t(k)] == expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(short_step_spreads_what_is_left) {
  const auto order = epoch_order(0, 1, 23);
  const StepSlices step = next_step(order, 10, 4, 5, false);
  BOOST_TEST(!step.full);
  BOOST_TEST(step.samples == 13);
  BOOST_TEST_REQUIRE(step.slices.size() == 4U);  // ⌈13/4⌉
  BOOST_TEST(step.slices[0].size() == 4U);
  BOOST_TEST(step.slices[3].size() == 3U);
}

BOOST_AUTO_TEST_CASE(batch_norm_gets_at_least_two_samples_per_slice) {
  const auto order = epoch_order(0, 1, 15);
  const StepSlices step = next_step(order, 10, 2, 8, true);  // 5 left: ⌈5/2⌉ = 3, ⌊5/2⌋ = 2
  BOOST_TEST_REQUIRE(step.slices.size() == 2U);
  BOOST_TEST(step.slices[0].size() == 3U);
  BOOST_TEST(step.slices[1].size() == 2U);
}

BOOST_AUTO_TEST_CASE(one_left_over_sample_joins_the_step_before_with_batch_norm) {
  const auto order = epoch_order(0, 1, 21);
  const StepSlices step = next_step(order, 10, 2, 5, true);
  BOOST_TEST(step.samples == 11);
  BOOST_TEST(!step.full);
  BOOST_TEST_REQUIRE(step.slices.size() == 5U);
  BOOST_TEST(step.slices[0].size() == 3U);
  BOOST_TEST(step.slices[0].back() == order.back());
  BOOST_TEST(next_step(order, 10, 2, 5, false).samples == 10);
}

BOOST_AUTO_TEST_CASE(slices_of_rank_pads_with_empty_ones) {
  const auto order = epoch_order(0, 1, 5);
  const StepSlices step = next_step(order, 0, 2, 8, false);
  const auto mine = slices_of_rank(step, 2, 3);
  BOOST_TEST_REQUIRE(mine.size() == 3U);
  BOOST_TEST(mine[0].size() == 1U);
  BOOST_TEST(mine[1].empty());
  BOOST_TEST(mine[2].empty());
}

// Random histories of b and N: every index once, every slice within the rules.
BOOST_AUTO_TEST_CASE(every_sample_exactly_once_over_random_resizes) {
  const std::uint32_t seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int round = 0; round < 500; ++round) {
    const std::int64_t samples = draw(2, 700);
    const bool batch_norm = draw(0, 1) == 1;
    const auto order = epoch_order(seed, round + 1, samples);
    std::vector<int> seen(std::size_t(samples), 0);
    std::int64_t consumed = 0;
    while (consumed < samples) {
      const std::int64_t b = draw(2, 40), n = draw(1, 12);
      const StepSlices step = next_step(order, consumed, b, n, batch_norm);
      BOOST_TEST_REQUIRE(std::ssize(step.slices) <= n);
      std::int64_t sum = 0;
      for (const auto& slice : step.slices) {
        BOOST_TEST_REQUIRE(std::ssize(slice) >= (batch_norm ? 2 : 1));
        BOOST_TEST_REQUIRE(std::ssize(slice) <= b + 1);
        for (auto index : slice) ++seen[std::size_t(index)];
        sum += std::ssize(slice);
      }
      BOOST_TEST_REQUIRE(sum == step.samples);
      consumed += step.samples;
    }
    BOOST_TEST_REQUIRE(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; }));
  }
}

BOOST_AUTO_TEST_SUITE_END()
