#include <boost/test/unit_test.hpp>

#include "allocator/batch_forecaster.h"
#include "tests/allocator/decision_fixtures.h"

namespace jabas {

BOOST_AUTO_TEST_SUITE(batch_forecaster_tests)

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
