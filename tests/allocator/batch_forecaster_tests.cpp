#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <random>

#include "allocator/batch_forecaster.h"
#include "tests/allocator/decision_fixtures.h"

namespace jabas {

namespace {

constexpr double kWork = 40'000;  // of the whole run, in steps at batch_min

// A run at batch_min, so that a step is a unit of progress: what it saw of `ratio` every 100 steps.
DecisionState noisy_run(std::int64_t steps, const std::function<double(double)>& ratio,
                        double deviation = 0, unsigned seed = 1) {
  DecisionState state = fixtures::two_type_state();
  state.adaptive = true;
  state.batch_policy = BatchPolicy::kGoodput;
  state.batch.batch_min = 128;
  state.batch.batch_max = 4096;
  state.wanted_batch = 128;
  state.rest_progress = kWork - double(steps);
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (std::int64_t step = 100; step <= steps; step += 100) {
    state.batch_history.emplace_back(step, 128);
    state.noise_history.emplace_back(step,
                                     ratio(double(step)) * std::exp(deviation * normal(random)));
  }
  state.grad_sqr = 1;
  state.grad_var = state.noise_history.empty() ? ratio(1) : state.noise_history.back().second;
  return state;
}

// Mean of |log(forecast / came)| over what is left after the next epoch.
double later_error(const DecisionState& state, const std::function<double(double)>& ratio) {
  const BatchForecast forecast = forecast_batch(state);
  const double done = kWork - state.rest_progress;
  double sum = 0;
  int count = 0;
  for (double at = 375 * 1.5; at < state.rest_progress; at += 100) {
    double expected = forecast.later_noise_ratio;
    for (std::size_t i = forecast.later.size(); i-- > 0;)
      if (at <= forecast.later[i].until) expected = forecast.later[i].noise_ratio;
    sum += std::abs(std::log(expected / ratio(done + at)));
    ++count;
  }
  return sum / count;
}

double last_value_error(const DecisionState& state, const std::function<double(double)>& ratio) {
  const double done = kWork - state.rest_progress, last = state.noise_history.back().second;
  double sum = 0;
  int count = 0;
  for (double at = 375 * 1.5; at < state.rest_progress; at += 100) {
    sum += std::abs(std::log(last / ratio(done + at)));
    ++count;
  }
  return sum / count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_forecaster_tests)

BOOST_AUTO_TEST_CASE(noise_that_stays_is_forecast_to_stay) {
  const DecisionState state = noisy_run(2'000, [](double) { return 20; });
  const BatchForecast forecast = forecast_batch(state);
  BOOST_TEST(forecast.method == "last value of the noise");
  BOOST_TEST(forecast.later.empty());
  BOOST_TEST(forecast.later_noise_ratio == 20);
}

BOOST_AUTO_TEST_CASE(noise_that_grows_or_falls_by_a_power_of_progress_goes_on_so) {
  for (const double power : {0.5, 0.8, 1.0, -0.5}) {
    const auto ratio = [&](double progress) { return 0.01 * std::pow(progress, power); };
    for (const std::int64_t steps : {4'000, 10'000}) {
      const DecisionState state = noisy_run(steps, ratio);
      const BatchForecast forecast = forecast_batch(state);
      BOOST_TEST_CONTEXT("power " << power << " after " << steps << ": " << forecast.method) {
        BOOST_TEST_REQUIRE(!forecast.later.empty());
        BOOST_TEST(forecast.later.size() <= 8u);
        BOOST_TEST(forecast.later.back().until == state.rest_progress);
        BOOST_TEST(later_error(state, ratio) < 0.5 * last_value_error(state, ratio));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(noise_without_a_trend_is_forecast_no_worse_than_by_its_last_value) {
  const auto flat = [](double) { return 20.0; };
  // As it is after a decay of the learning rate: a step up, then level again.
  const auto stepped = [](double progress) { return progress < 5'000 ? 10.0 : 60.0; };
  for (const auto& ratio :
       {std::function<double(double)>(flat), std::function<double(double)>(stepped)})
    for (const std::int64_t steps : {2'000, 8'000, 20'000}) {
      double ours = 0, last = 0;
      for (unsigned seed = 1; seed <= 20; ++seed) {
        const DecisionState state = noisy_run(steps, ratio, 0.1, seed);
        ours += later_error(state, ratio);
        last += last_value_error(state, ratio);
      }
      BOOST_TEST(ours <= 1.05 * last, "after " << steps << " steps, seeds 1 to 20: " << ours / 20
                                               << " against " << last / 20);
    }
}

// The growth that is assumed then is gone as soon as there are enough records.
BOOST_AUTO_TEST_CASE(with_hardly_a_record_some_growth_is_assumed) {
  const auto flat = [](double) { return 2.0; };
  double before = 1e9;
  for (const std::int64_t steps : {0, 100, 300, 1'000}) {
    const BatchForecast forecast = forecast_batch(noisy_run(steps, flat));
    const double last =
        forecast.later.empty() ? forecast.later_noise_ratio : forecast.later.back().noise_ratio;
    BOOST_TEST(last < before);
    BOOST_TEST(last >= 2);
    before = last;
  }
  BOOST_TEST(before == 2);
  DecisionState unknown = noisy_run(0, flat);
  unknown.grad_sqr = unknown.grad_var = 0;
  BOOST_TEST(forecast_batch(unknown).later_noise_ratio == 0);
}

BOOST_AUTO_TEST_CASE(the_noise_is_never_forecast_beyond_the_growth_that_was_seen) {
  const auto ratio = [](double progress) { return progress * progress / 1e6; };
  const DecisionState state = noisy_run(3'000, ratio);
  const BatchForecast forecast = forecast_batch(state);
  const double grown = state.noise_history.back().second / state.noise_history.front().second;
  for (const LaterNoise& later : forecast.later)
    BOOST_TEST(later.noise_ratio <= state.noise_history.back().second * grown * (1 + 1e-9));
}

BOOST_AUTO_TEST_CASE(the_last_wanted_batch_lasts_for_the_whole_epoch) {
  DecisionState state = fixtures::two_type_state();
  state.adaptive = true;
  state.batch.batch_max = 4096;
  state.wanted_batch = 777.5;
  const BatchForecast forecast = forecast_batch(state);
  BOOST_TEST(forecast.method == "last value");
  BOOST_REQUIRE(forecast.next_epoch.size() == 1u);
  BOOST_TEST(forecast.next_epoch[0].wanted_batch == 777.5);
  BOOST_TEST(forecast.next_epoch[0].samples == state.epoch_samples);
  BOOST_TEST(forecast.later_batch == 777.5);
}

BOOST_AUTO_TEST_CASE(forecasts_stay_within_the_bounds) {
  DecisionState state = fixtures::two_type_state();
  state.batch.batch_max = 1000;
  state.wanted_batch = 5000;
  BOOST_TEST(forecast_batch(state).later_batch == 1000);
  state.wanted_batch = 0;
  BOOST_TEST(forecast_batch(state).later_batch == 192);
  BOOST_TEST(forecast_batch(state).method == "fixed");
}

BOOST_AUTO_TEST_CASE(a_trend_goes_on_for_one_epoch_in_pieces_and_no_further) {
  DecisionState state = fixtures::two_type_state();
  state.adaptive = true;
  state.batch.batch_min = 64;
  state.batch.batch_max = 4096;
  state.epoch_samples = 1'000'000;
  for (int i = 1; i <= 40; ++i) state.batch_history.emplace_back(100 * i, 300.5 + 10 * i);
  state.wanted_batch = 700.5;
  const BatchForecast forecast = forecast_batch(state);
  BOOST_TEST(forecast.method != "last value");
  BOOST_REQUIRE(forecast.next_epoch.size() > 5u);
  std::int64_t samples = 0;
  double before = 700.5;
  for (const ForecastSegment& segment : forecast.next_epoch) {
    BOOST_TEST(segment.wanted_batch > before);
    before = segment.wanted_batch;
    samples += segment.samples;
  }
  BOOST_TEST(samples == state.epoch_samples);
  BOOST_TEST(forecast.later_batch == before);
  BOOST_TEST(before < 900);

  state.batch.batch_max = 720;
  BOOST_TEST(forecast_batch(state).later_batch == 720);
  state.adaptive = false;
  BOOST_TEST(forecast_batch(state).method == "fixed");
}

BOOST_AUTO_TEST_CASE(long_epochs_have_a_bounded_number_of_pieces) {
  DecisionState state = fixtures::two_type_state();
  state.adaptive = true;
  state.batch.batch_min = 1;
  state.batch.batch_max = 1'000'000'000;
  state.epoch_samples = 1'000'000'000'000;
  state.adapt_every = 1;
  for (int i = 1; i <= 60; ++i) state.batch_history.emplace_back(i, 100.5 + i);
  state.wanted_batch = 160.5;
  const BatchForecast forecast = forecast_batch(state);
  BOOST_TEST(forecast.next_epoch.size() <= 50u);
  std::int64_t samples = 0;
  for (const ForecastSegment& segment : forecast.next_epoch) samples += segment.samples;
  BOOST_TEST(samples == state.epoch_samples);
}

BOOST_AUTO_TEST_CASE(a_broken_history_is_no_hindrance) {
  DecisionState state = fixtures::two_type_state();
  state.adaptive = true;
  state.batch.batch_max = 4096;
  state.wanted_batch = 500;
  state.batch_history = {{300, 400}, {100, 0}, {200, -5}, {-100, 7}, {300, 450}, {200, 500}};
  const BatchForecast forecast = forecast_batch(state);
  BOOST_TEST(forecast.method == "last value");
  BOOST_TEST(forecast.later_batch == 500);
}

BOOST_AUTO_TEST_CASE(the_error_of_a_forecast_is_the_mean_over_the_adjustments) {
  const BatchForecast forecast{{{100, 1000, 0}, {200, 4000, 0}}, 200, 0, "local linear in B"};
  // 10 steps at 100, then 20 at 200, then as at the end.
  const std::vector<BatchRecord> came = {{5, 100}, {15, 250}, {90, 160}};
  BOOST_TEST(*forecast_error(forecast, came) == (0 + 0.2 + 0.25) / 3,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(!forecast_error(forecast, {}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
