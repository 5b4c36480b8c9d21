// Placement invariance: what is trained does not depend on where the virtual workers run.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "tests/elastic_runner/engine_fixture.h"
#include "tests/elastic_runner/small_models.h"

namespace jabas {
namespace {

using namespace testing;

const std::vector<std::pair<std::string, Placement>> kPlacements = {
    {"1 rank, V=1, a=7", {{1, 7}}},
    {"1 rank, V=3, a=2", {{3, 2}}},  // one worker too many: it stays empty
    {"2 ranks, V=4", {{4, 0}, {4, 0}}},
    {"4 ranks, V=2", {{2, 0}, {2, 0}, {2, 0}, {2, 0}}},
    {"8 ranks, V=1", {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}}},
    {"3 ranks, V=3:3:2", {{3, 0}, {3, 0}, {2, 0}}},
    {"2 ranks, (V=1, a=4) and (V=3, a=0)", {{1, 4}, {3, 0}}},
};

// Steps of 8 workers; every fourth is the end of an epoch: smaller slices, empty workers, ranks
// without work.
std::vector<Slices> some_steps(int count = 20) {
  std::vector<Slices> steps;
  for (int step = 0; step < count; ++step) {
    const std::int64_t first = step * 31 % 280;
    steps.push_back(step % 4 == 3 ? consecutive({4, 3, 3}, first)
                                  : consecutive(std::vector<std::int64_t>(8, 4), first));
  }
  return steps;
}

void compare(const EngineFixture& fixture, const EngineOptions& options, double tolerance,
             const std::vector<std::pair<std::string, Placement>>& placements = kPlacements,
             const std::vector<Slices>& steps = some_steps(), double learning_rate = 0.05) {
  const auto adjust = [&](int, StepPlan& plan) { plan.learning_rate = learning_rate; };
  const auto reference = fixture.train(options, {{8, 0}}, steps, adjust);
  for (const auto& [name, placement] : placements) {
    const auto result = fixture.train(options, placement, steps, adjust);
    const double distance = difference(result.states[0], reference.states[0]);
    BOOST_TEST_MESSAGE(options.model << " " << options.precision << " " << options.optimizer.name
                                     << ", " << name << ": " << distance);
    BOOST_TEST(distance <= tolerance, name << ": " << distance);
    for (std::size_t rank = 1; rank < placement.size(); ++rank)
      BOOST_TEST(difference(result.states[rank], result.states[0]) == 0,
                 name << ": rank " << rank << " differs");
    for (std::size_t step = 0; step < steps.size(); ++step)
      BOOST_TEST(std::abs(result.outcomes[0][step].loss - reference.outcomes[0][step].loss) <= 1e-5,
                 name << ": loss of step " << step);
  }
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(placement_tests, EngineFixture)

BOOST_AUTO_TEST_CASE(twenty_steps_of_the_cnn_agree_in_float) {
  compare(*this, options("cnn", "fp32"), 1e-5);
}
BOOST_AUTO_TEST_CASE(twenty_steps_of_the_cnn_agree_in_double) {
  compare(*this, options("cnn", "fp64"), 1e-12);
}
BOOST_AUTO_TEST_CASE(twenty_steps_of_the_mlp_agree_in_float) {
  compare(*this, options("mlp", "fp32"), 1e-5);
}

BOOST_AUTO_TEST_CASE(twenty_steps_of_the_gpt_agree_in_float) {
  compare(*this, options("gpt", "fp32"), 1e-5);
}
BOOST_AUTO_TEST_CASE(twenty_steps_of_the_gpt_agree_in_double) {
  compare(*this, options("gpt", "fp64"), 1e-12, {kPlacements[1], kPlacements[5]});
}

// Kinks of ReLU and max-pooling enlarge rounding in float, so those models are compared in double
// only; deep BatchNorm over few values enlarges it too, the more the larger the steps.
BOOST_DATA_TEST_CASE(steps_of_every_model_agree_in_double,
                     boost::unit_test::data::make(kSmallModels), model) {
  compare(*this, small_model(model, "fp64"), 1e-10, {kPlacements[1], kPlacements[5]}, some_steps(5),
          0.005);
}
BOOST_DATA_TEST_CASE(steps_of_smooth_models_agree_in_float,
                     boost::unit_test::data::make({"vit", "gnmt"}), model) {
  compare(*this, small_model(model, "fp32"), 1e-5, {kPlacements[1], kPlacements[5]}, some_steps(),
          0.01);
}

// In double and with a large epsilon: the division by the gradient's own size enlarges rounding
// where that is nearly zero.
BOOST_DATA_TEST_CASE(twenty_steps_of_the_mlp_agree_with_every_optimizer,
                     boost::unit_test::data::make({"adam", "adamw", "lamb"}), optimizer) {
  auto options = this->options("mlp", "fp64");
  options.optimizer.name = optimizer;
  options.optimizer.weight_decay = 0.01;
  options.optimizer.epsilon = 1e-4;
  options.clip_norm = 0.5;
  compare(*this, options, 1e-10, {kPlacements[1], kPlacements[5]});
}

BOOST_AUTO_TEST_CASE(the_same_placement_gives_the_same_bits) {
  const auto steps = some_steps();
  const auto first = train(options("cnn", "fp32"), {{3, 0}, {3, 0}, {2, 0}}, steps);
  const auto second = train(options("cnn", "fp32"), {{3, 0}, {3, 0}, {2, 0}}, steps);
  BOOST_TEST(difference(first.states[0], second.states[0]) == 0);
}

// Without BatchNorm and dropout the slices of a step are only a way to compute one batch.
BOOST_DATA_TEST_CASE(a_step_equals_one_big_batch,
                     boost::unit_test::data::make({"mlp", "mlp of numbers", "gpt", "vit", "gnmt",
                                                   "dlrm"}),
                     model) {
  auto options = small_model(model, "fp64");
  options.size.dropout = 0;
  const auto one = train(options, {{1, 0}}, {consecutive({23})});
  for (const Placement& placement :
       {Placement{{2, 0}, {2, 0}}, Placement{{1, 3}}, Placement{{3, 0}, {1, 0}}}) {
    const auto spread = train(options, placement, {consecutive({7, 6, 5, 5})});
    BOOST_TEST(difference(spread.states[0], one.states[0]) <= 1e-13);
    BOOST_TEST(std::abs(spread.outcomes[0][0].loss - one.outcomes[0][0].loss) <= 1e-13);
  }
}

// V and a change between steps, replicas come and go, training goes on as if nothing had happened.
BOOST_AUTO_TEST_CASE(changing_streams_between_steps_changes_nothing) {
  const auto steps = some_steps();
  const auto reference = train(options("cnn", "fp64"), {{8, 0}}, steps);
  const auto communicator = solo();
  const auto engine = make_iidp_engine(options("cnn", "fp64"));
  const std::vector<Share> shares = {{8, 0}, {2, 3}, {4, 1}, {1, 7}, {3, 2}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Share& share = shares[i % shares.size()];
    engine->configure(share.streams, share.accum_steps, 4);
    engine->train_step(plan_for({share}, 0, steps[i], static_cast<std::int64_t>(i) + 1),
                       *communicator);
  }
  BOOST_TEST(difference(copy_state(*engine), reference.states[0]) <= 1e-12);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
