#include <boost/test/unit_test.hpp>

#include "allocator/prediction.h"
#include "tests/allocator/decision_fixtures.h"
#include "tests/allocator/predicted.h"

namespace jabas {
namespace {

using fixtures::predicted;

const auto kExact = boost::test_tools::tolerance(1e-9);

}  // namespace

BOOST_AUTO_TEST_SUITE(prediction_tests)

// 48,000 samples at 2,000 per second and 4 epochs left.
BOOST_AUTO_TEST_CASE(time_and_cost_by_hand) {
  DecisionState state = fixtures::two_type_state();
  state.evaluation_s = 3;
  const CandidateResult result = predicted(state, {{"v100", 2}});
  BOOST_TEST(result.next_epoch_s == 24 + 3, kExact);
  BOOST_TEST(result.rest_s == 4 * 27, kExact);
  BOOST_TEST(result.rest_cost == 2 * 108.0 / 3600, kExact);
  BOOST_TEST(result.configuration.local_batch * result.configuration.virtual_workers == 192);
  BOOST_TEST(result.configuration.shares.size() == 2u);
  BOOST_TEST(!result.batch_clamped);
}

BOOST_AUTO_TEST_CASE(the_last_step_of_an_epoch_is_a_whole_one) {
  DecisionState state = fixtures::two_type_state();
  state.epoch_samples = 193;
  BOOST_TEST(predicted(state, {{"v100", 2}}).next_epoch_s == 2 * 0.096, kExact);
}

// The wanted batch is 16 but two GPUs of b = 16 cannot run less than 32. gain(32) = (3+1)/(1.5+1)
// = 1.6: the set needs 1/1.6 of the steps, each twice as long as 16 samples would take on both.
BOOST_AUTO_TEST_CASE(a_clamped_batch_pays_for_lost_progress) {
  DecisionState state = fixtures::two_type_state();
  state.adaptive = true;
  state.batch.batch_min = 16;
  state.wanted_batch = 16;
  state.grad_sqr = 1;
  state.grad_var = 3;
  const CandidateResult result = predicted(state, {{"v100", 2}});
  BOOST_TEST(result.batch_clamped);
  BOOST_TEST(result.rest_s == 4 * 3000 / 1.6 * 0.016, kExact);
  BOOST_TEST(result.next_epoch_s == 1500 * 0.016, kExact);
  state.grad_var = 0;  // unknown noise: samples count
  BOOST_TEST(predicted(state, {{"v100", 2}}).rest_s == 4 * 1500 * 0.016, kExact);
}

// What is left in steps at batch_min = 192: 96 s of an epoch's 24 s are 4 epochs; a half epoch is
// less than the next one.
BOOST_AUTO_TEST_CASE(what_is_left_may_be_given_as_progress) {
  DecisionState state = fixtures::two_type_state();
  state.evaluation_s = 1;
  state.rest_progress = 4 * 250;
  BOOST_TEST(predicted(state, {{"v100", 2}}).rest_s == 4 * 25, kExact);
  state.next_epoch = state.epochs;  // says nothing about what is left then
  BOOST_TEST(predicted(state, {{"v100", 2}}).rest_s == 4 * 25, kExact);
  state.rest_progress = 125;
  BOOST_TEST(predicted(state, {{"v100", 2}}).rest_s == 13, kExact);
  BOOST_TEST(predicted(state, {{"v100", 2}}).next_epoch_s == 13, kExact);
}

// Two GPUs run 2,000 samples/s at any batch of at least 32, so that the least batch makes the most
// of them: gain(32) = (15+1)/(15/2+1) in steps of 16, each of 16 ms.
BOOST_AUTO_TEST_CASE(with_goodput_each_set_runs_its_own_batch) {
  DecisionState state = fixtures::two_type_state();
  state.adaptive = true;
  state.batch_policy = BatchPolicy::kGoodput;
  state.batch = {.batch_min = 16, .batch_max = 4096, .fixed_local_batch = 16};
  state.wanted_batch = 1024;
  for (int i = 1; i <= 30; ++i) state.noise_history.emplace_back(10 * i, 15);  // no trend
  state.rest_progress = 1e4;
  const CandidateResult result = predicted(state, {{"v100", 2}});
  BOOST_TEST(result.configuration.virtual_workers == 2);
  BOOST_TEST(result.rest_s == 1e4 * 0.016 / (16 / 8.5), kExact);
  state.noise_history.clear();  // unknown: the wanted batch
  BOOST_TEST(predicted(state, {{"v100", 2}}).configuration.virtual_workers == 64);
}

BOOST_AUTO_TEST_CASE(a_fixed_batch_is_not_for_more_gpus_than_it_has_workers) {
  DecisionState state = fixtures::two_type_state();
  state.batch.batch_min = state.batch.batch_max = 48;
  state.wanted_batch = 48;
  state.batch.fixed_local_batch = 0;  // the current local batch of 16 stays all the same
  BOOST_TEST(predicted(state, {{"v100", 2}, {"p100", 1}}).configuration.local_batch == 16);
  std::string cause;
  BOOST_TEST(!Predictor(state).predict({{"v100", 2}, {"p100", 2}}, &cause));
  BOOST_TEST(cause == "more GPUs than the fixed batch has virtual workers");
}

BOOST_AUTO_TEST_CASE(what_cannot_run_is_no_partial_sum) {
  DecisionState state = fixtures::two_type_state();
  std::string cause;
  BOOST_TEST(!Predictor(state).predict({}, &cause));
  BOOST_TEST(cause == "no GPU");
  state.batch.fixed_local_batch = 100;
  BOOST_TEST(!Predictor(state).predict({{"v100", 1}}, &cause));
  BOOST_TEST(cause == "local batch 100 is not known to fit into the memory of every GPU");
  state.profile.types.clear();
  BOOST_TEST(!Predictor(state).predict({{"v100", 1}}, &cause));
  BOOST_TEST(cause == "no profile of any of its GPU types");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
