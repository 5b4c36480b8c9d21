// Where the time of a step goes, and that hiding the communication changes nothing else.
#include <boost/test/unit_test.hpp>

#include "tests/elastic_runner/delayed_communicator.h"
#include "tests/elastic_runner/engine_fixture.h"

namespace jabas {

using namespace testing;

BOOST_FIXTURE_TEST_SUITE(step_times_tests, EngineFixture)

BOOST_AUTO_TEST_CASE(the_reduction_after_backward_is_exposed) {
  using namespace std::chrono_literals;
  auto options = this->options("mlp", "fp32");
  for (const bool overlap : {true, false}) {
    options.overlap = overlap;
    const auto engine = this->engine(options, {1, 0});
    const auto inner = solo();
    DelayedCommunicator slow(*inner, 20ms);
    const StepOutcome outcome =
        engine->train_step(plan_for({{1, 0}}, 0, consecutive({8}), 1), slow);
    // The last bucket is never ready before the end of backward. Sleeps are never shorter.
    BOOST_TEST(outcome.times.exposed_all_reduce_s > 0.015);
    BOOST_TEST(outcome.times.exposed_all_reduce_s < outcome.times.step_s);
    // Its layers are several buckets.
    BOOST_TEST(outcome.times.all_reduce_s > 0.055);
    if (!overlap) BOOST_TEST(outcome.times.exposed_all_reduce_s > 0.055);
  }
}

BOOST_AUTO_TEST_CASE(an_emulated_sleep_is_not_exposed_communication) {
  const auto engine = this->engine(options("mlp", "fp32"), {1, 0});
  const auto alone = solo();
  StepPlan plan = plan_for({{1, 0}}, 0, consecutive({8}), 1);
  plan.min_compute_s = 2;
  const StepOutcome outcome = engine->train_step(plan, *alone);
  BOOST_TEST(outcome.times.step_s > 2);
  BOOST_TEST(outcome.times.exposed_all_reduce_s < 1.5);
}

BOOST_AUTO_TEST_CASE(overlap_changes_no_bit) {
  std::vector<Tensors> states;
  for (const bool overlap : {true, false}) {
    auto options = this->options("cnn", "fp32");
    options.overlap = overlap;
    const auto result =
        train(options, {{2, 0}, {1, 1}}, {consecutive({4, 4, 4, 4}), consecutive({4, 4, 4, 4}, 16)},
              [](int, StepPlan& plan) { plan.measure = plan.step == 2; });
    states.push_back(result.states[0]);
    BOOST_TEST(difference(result.states[1], result.states[0]) == 0);
  }
  BOOST_TEST(difference(states[0], states[1]) == 0);
}

BOOST_AUTO_TEST_CASE(a_text_is_known_as_such) {
  const auto engine = this->engine(options("gpt", "fp32"), {1, 0});
  const Evaluation evaluation = engine->evaluate(0, 1);
  BOOST_TEST(evaluation.is_text);
  BOOST_TEST(evaluation.count_top5 == evaluation.count);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
