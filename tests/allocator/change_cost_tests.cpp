#include <boost/test/unit_test.hpp>

#include "allocator/change_cost.h"
#include "tests/allocator/decision_fixtures.h"
#include "tests/allocator/predicted.h"

namespace jabas {
namespace {

using fixtures::predicted;

const auto kExact = boost::test_tools::tolerance(1e-9);

CandidateResult changed(const DecisionState& state, const GpuCounts& gpus) {
  CandidateResult result = predicted(state, gpus);
  const CandidateResult present = predicted(state, state.held);
  const Predictor predictor(state);
  ChangeCost(state, predictor, &present).add(&result);
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(change_cost_tests)

// Pause 2 s for everybody, 2 new GPUs paid for 10 s of start-up, in price 1: (2·10 + 2·2)/3600; R =
// 96 s.
BOOST_AUTO_TEST_CASE(a_change_costs_pause_and_startup) {
  DecisionState state = fixtures::two_type_state();
  state.resize_pause_s = 2;
  state.startup_s = 10;
  const CandidateResult result = changed(state, {{"v100", 2}});
  BOOST_TEST(result.rest_s == 96 + 2, kExact);
  BOOST_TEST(result.next_epoch_s == 24 + 2, kExact);
  BOOST_TEST(result.rest_cost == (2 * 96 + 2 * 10 + 2 * 2) / 3600.0, kExact);
}

BOOST_AUTO_TEST_CASE(short_stays_pay_more_often) {
  DecisionState state = fixtures::two_type_state();
  state.resize_pause_s = 2;
  state.epochs_per_stay = 2;  // of 4 left: twice
  BOOST_TEST(changed(state, {{"v100", 2}}).rest_s == 96 + 4, kExact);
  state.epochs_per_stay = 8;  // never less than once
  BOOST_TEST(changed(state, {{"v100", 2}}).rest_s == 96 + 2, kExact);
}

// The present set needs 192 s in all; a quarter of the work is done while waiting 48 s.
BOOST_AUTO_TEST_CASE(while_waiting_the_run_goes_on_with_what_it_has) {
  DecisionState state = fixtures::two_type_state();
  state.supply["v100"].wait_s = 48;
  state.supply["v100"].price_per_h = 3600;
  state.supply["p100"].price_per_h = 360;
  const CandidateResult result = changed(state, {{"v100", 2}});
  BOOST_TEST(result.rest_s == 48 + 0.75 * 96, kExact);
  BOOST_TEST(result.rest_cost == 2 * 0.1 * 48 + 2 * 0.75 * 96, kExact);
  state.supply["v100"].wait_s = 1000;  // longer than the run: nothing changes any more
  BOOST_TEST(changed(state, {{"v100", 2}}).rest_s == 192, kExact);
}

BOOST_AUTO_TEST_CASE(minimum_billing_counts_for_what_leaves_early) {
  DecisionState state = fixtures::two_type_state();
  state.supply["p100"].price_per_h = 3600;
  state.supply["v100"].price_per_h = 0;
  state.minimum_billing_s = 60;
  state.epochs_since_change = 1;  // held for an epoch of 48 s
  BOOST_TEST(changed(state, {{"v100", 2}}).rest_cost == 2 * 12, kExact);
  state.epochs_since_change = 2;
  BOOST_TEST(changed(state, {{"v100", 2}}).rest_cost == 0, kExact);
}

BOOST_AUTO_TEST_CASE(a_start_waits_but_pays_no_change) {
  DecisionState state = fixtures::two_type_state();
  state.resize_pause_s = 2;
  state.startup_s = 10;
  state.supply["v100"].wait_s = 5;
  CandidateResult result = predicted(state, {{"v100", 2}});
  const Predictor predictor(state);
  ChangeCost(state, predictor, nullptr).add(&result);
  BOOST_TEST(result.rest_s == 101, kExact);
  BOOST_TEST(result.rest_cost == 2 * 96 / 3600.0, kExact);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
