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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
