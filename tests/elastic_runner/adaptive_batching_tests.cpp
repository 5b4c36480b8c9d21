#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>

#include "allocator/error.h"
#include "elastic_runner/adaptive_batching.h"

using namespace jabas;

namespace {

// Gradients of two halves drawn around a true gradient G with per-sample variance tr Σ spread over
// `dimensions`.
StepOutcome::Halves drawn(std::mt19937& random, int dimensions, double sqr, double trace,
                          std::int64_t even, std::int64_t odd) {
  StepOutcome::Halves halves;
  halves.even_samples = even;
  halves.odd_samples = odd;
  std::normal_distribution<double> normal;
  const double mean = std::sqrt(sqr / dimensions), deviation = std::sqrt(trace / dimensions);
  for (int i = 0; i < dimensions; ++i) {
    const double a = mean + normal(random) * deviation / std::sqrt(double(even));
    const double b = mean + normal(random) * deviation / std::sqrt(double(odd));
    const double all = (double(even) * a + double(odd) * b) / double(even + odd);
    halves.even_sqr += a * a;
    halves.odd_sqr += b * b;
    halves.all_sqr += all * all;
    halves.inner += a * b;
  }
  return halves;
}

AdaptiveRules rules(const std::string& policy) {
  AdaptiveRules result;
  result.policy = policy;
  result.target = 0.3;
  result.batch_min = 64;
  result.batch_max = 4096;
  return result;
}

// The next wanted batch of a policy that asks nothing of the GPUs.
WantedBatch next(const AdaptiveState& state, const std::string& policy) {
  return next_wanted_batch(state, rules(policy), []() -> GoodputBatch {
    BOOST_FAIL("only goodput needs the GPUs");
    return {};
  });
}
WantedBatch next_by_goodput(const AdaptiveState& state, const GoodputBatch& best) {
  return next_wanted_batch(state, rules("goodput"), [&] { return best; });
}

// Averages as if |G|² = sqr and tr Σ = trace had been measured.
AdaptiveState known(double wanted, double sqr, double trace) {
  AdaptiveState state;
  state.wanted_batch = wanted;
  return with_measurement(state, {0.5, sqr, trace});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(adaptive_batching_tests)

// The estimators have no bias, also for halves of different size.
BOOST_AUTO_TEST_CASE(measurement_finds_gradient_and_noise) {
  std::mt19937 random(5);
  double sqr = 0, trace = 0;
  constexpr int kRounds = 4000;
  for (int i = 0; i < kRounds; ++i) {
    const auto measured = measure(drawn(random, 50, 2.0, 300.0, 96, 64));
    BOOST_TEST_REQUIRE(measured.has_value());
    sqr += measured->sqr / kRounds;
    trace += measured->trace / kRounds;
  }
  BOOST_TEST(sqr == 2.0, boost::test_tools::tolerance(0.05));
  BOOST_TEST(trace == 300.0, boost::test_tools::tolerance(0.05));
}

BOOST_AUTO_TEST_CASE(similarity_is_the_cosine) {
  StepOutcome::Halves halves;
  halves.even_sqr = 4;
  halves.odd_sqr = 9;
  halves.inner = 3;
  halves.all_sqr = 4.75;
  halves.even_samples = halves.odd_samples = 32;
  BOOST_TEST(measure(halves)->similarity == 0.5);
}

BOOST_AUTO_TEST_CASE(nothing_is_measured_from_an_empty_half_or_a_diverged_gradient) {
  StepOutcome::Halves halves{1, 1, 1, 1, 32, 0};
  BOOST_TEST(!measure(halves).has_value());
  halves.odd_samples = 32;
  BOOST_TEST(measure(halves).has_value());
  halves.even_sqr = std::nan("");
  BOOST_TEST(!measure(halves).has_value());
}

BOOST_AUTO_TEST_CASE(averages_are_bias_corrected_and_keep_negative_values) {
  AdaptiveState state;
  state = with_measurement(state, {0.1, 4, -2});
  BOOST_TEST(state.sqr() == 4.0, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(state.trace() == -2.0, boost::test_tools::tolerance(1e-12));
  state = with_measurement(state, {0.2, 6, 8});
  BOOST_TEST(state.sqr() == (0.9 * 4 + 6) / 1.9, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(state.trace() == (0.9 * -2 + 8) / 1.9, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(state.similarity == 0.2);
}

BOOST_AUTO_TEST_CASE(paper_steps_by_its_factors) {
  AdaptiveState state;
  state.wanted_batch = 100;
  state.similarity = 0.29;
  BOOST_TEST(next(state, "paper").batch == 110.0, boost::test_tools::tolerance(1e-12));
  state.similarity = 0.31;
  BOOST_TEST(next(state, "paper").batch == 90.0, boost::test_tools::tolerance(1e-12));
  state.wanted_batch = 65;
  BOOST_TEST(next(state, "paper").batch == 64.0);  // clipped
}

// φ(B) = |G|²/(|G|² + 2·tr Σ/B) is the target at the solution.
BOOST_AUTO_TEST_CASE(similarity_solves_for_the_target) {
  const auto wanted = next(known(300, 1, 400), "similarity");
  BOOST_TEST(1 / (1 + 2 * 400 / wanted.batch) == 0.3, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(wanted.reason == "similarity 0.3000 expected at batch 343");
}

BOOST_AUTO_TEST_CASE(similarity_changes_at_most_by_two_and_not_for_less_than_five_percent) {
  BOOST_TEST(next(known(100, 1, 4000), "similarity").batch == 200.0);
  BOOST_TEST(next(known(1000, 1, 400), "similarity").batch == 500.0);
  BOOST_TEST(next(known(350, 1, 400), "similarity").batch == 350.0);
  BOOST_TEST(next(known(4096, 1, 1e6), "similarity").batch == 4096.0);
  BOOST_TEST(next(known(3000, 1, 1e6), "similarity").batch == 4096.0);
}

BOOST_AUTO_TEST_CASE(unknown_noise_keeps_the_wanted_batch) {
  BOOST_TEST(next(known(100, -1, 400), "similarity").batch == 100.0);
  BOOST_TEST(next(known(100, 1, -400), "similarity").batch == 100.0);
}

BOOST_AUTO_TEST_CASE(goodput_goes_to_the_batch_of_most_progress_within_its_bounds) {
  const auto wanted = next_by_goodput(known(300, 1, 400), {384, ""});
  BOOST_TEST(wanted.batch == 384.0);
  BOOST_TEST(wanted.reason == "most progress per second at batch 384 (noise scale 400)");
  BOOST_TEST(next_by_goodput(known(300, 1, 400), {2000, ""}).batch == 600.0);
  BOOST_TEST(next_by_goodput(known(300, 1, 400), {64, ""}).batch == 150.0);
  BOOST_TEST(next_by_goodput(known(300, 1, 400), {310, ""}).batch == 300.0);
  BOOST_TEST(next_by_goodput(known(4000, 1, 400), {9000, ""}).batch == 4000.0);  // clipped: < 5 %
}

BOOST_AUTO_TEST_CASE(goodput_keeps_the_batch_without_noise_or_profile) {
  BOOST_TEST(next(known(100, -1, 400), "goodput").batch == 100.0);
  BOOST_TEST(next(known(100, 1, -400), "goodput").batch == 100.0);
  const auto unknown = next_by_goodput(known(100, 1, 400), {0, "no profile"});
  BOOST_TEST(unknown.batch == 100.0);
  BOOST_TEST(unknown.reason == "no profile, kept");
}

BOOST_AUTO_TEST_CASE(unknown_policy_lists_the_known_ones) {
  BOOST_CHECK_EXCEPTION(next(known(100, 1, 1), "best"), UsageError, [](const UsageError& error) {
    return std::string(error.what()) ==
           "--batch-policy=best: accepted are paper, similarity and goodput";
  });
}

BOOST_AUTO_TEST_CASE(adjustments_fall_on_multiples_of_the_interval) {
  BOOST_TEST(next_adjustment_after(0, 100) == 100);
  BOOST_TEST(next_adjustment_after(99, 100) == 100);
  BOOST_TEST(next_adjustment_after(100, 100) == 200);
}

BOOST_AUTO_TEST_SUITE_END()
