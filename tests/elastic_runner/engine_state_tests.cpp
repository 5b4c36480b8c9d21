// What a training consists of: its initial values, its draws, and the state that checkpoints and
// joiners get.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "tests/elastic_runner/engine_fixture.h"

namespace jabas {
namespace {

using namespace testing;

const std::vector<std::int64_t> kEightByFour(8, 4);

}  // namespace

BOOST_FIXTURE_TEST_SUITE(engine_state_tests, EngineFixture)

BOOST_AUTO_TEST_CASE(initial_weights_are_a_function_of_the_seed) {
  auto options = this->options("cnn", "fp32");
  const auto first = copy_state(*make_iidp_engine(options)),
             again = copy_state(*make_iidp_engine(options));
  BOOST_TEST(difference(again, first) == 0);
  options.precision = "fp64";
  BOOST_TEST(difference(copy_state(*make_iidp_engine(options)), first) == 0);
  options.precision = "fp32";
  options.seed = 1;
  BOOST_TEST(difference(copy_state(*make_iidp_engine(options)), first) > 0.5);
}

BOOST_AUTO_TEST_CASE(dropout_depends_on_epoch_and_step) {
  const auto communicator = solo();
  const auto loss_of = [&](int epoch, std::int64_t step) {
    const auto engine = this->engine(options("cnn", "fp64"), {1, 0});
    StepPlan plan = plan_for({{1, 0}}, 0, consecutive({8}), step);
    plan.epoch = epoch;
    return engine->train_step(plan, *communicator).loss;
  };
  const double loss = loss_of(1, 1);
  BOOST_TEST(loss_of(1, 1) == loss);
  BOOST_TEST(loss_of(1, 2) != loss);
  BOOST_TEST(loss_of(2, 1) != loss);
}

BOOST_AUTO_TEST_CASE(state_has_the_same_names_in_the_same_order_and_carries_over) {
  const auto steps = std::vector<Slices>{consecutive(kEightByFour), consecutive(kEightByFour, 50)};
  const auto communicator = solo();
  const auto from = engine(options("cnn", "fp32"), {2, 3}),
             to = engine(options("cnn", "fp32"), {4, 1});
  from->train_step(plan_for({{2, 3}}, 0, steps[0], 1), *communicator);
  const auto source = from->state(), target = to->state();
  BOOST_TEST_REQUIRE(source.size() == target.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    BOOST_TEST(source[i].name == target[i].name);
    BOOST_TEST(source[i].dtype == target[i].dtype);
    BOOST_TEST(source[i].shape == target[i].shape);
    BOOST_TEST_REQUIRE(source[i].bytes == target[i].bytes);
    std::memcpy(target[i].data, source[i].data, source[i].bytes);
  }
  BOOST_TEST(source.front().name == "weight/conv1.weight");
  BOOST_TEST(source.back().name == "buffer/bn2.num_batches_tracked");
  from->train_step(plan_for({{2, 3}}, 0, steps[1], 2), *communicator);
  to->train_step(plan_for({{4, 1}}, 0, steps[1], 2), *communicator);
  BOOST_TEST(difference(copy_state(*to), copy_state(*from)) <= 1e-5);
}

// The weights of every optimizer go where its state says, also after a step on other streams.
BOOST_AUTO_TEST_CASE(the_state_of_every_optimizer_carries_over) {
  for (const std::string name : {"sgd", "adam", "adamw", "lamb"}) {
    auto options = this->options("mlp", "fp64");
    options.optimizer.name = name;
    options.optimizer.weight_decay = 0.01;
    const auto steps =
        std::vector<Slices>{consecutive(kEightByFour), consecutive(kEightByFour, 50)};
    const auto communicator = solo();
    const auto from = engine(options, {2, 3}), to = engine(options, {4, 1});
    from->train_step(plan_for({{2, 3}}, 0, steps[0], 1), *communicator);
    const auto source = from->state(), target = to->state();
    BOOST_TEST_REQUIRE(source.size() == target.size());
    for (std::size_t i = 0; i < source.size(); ++i)
      std::memcpy(target[i].data, source[i].data, source[i].bytes);
    from->train_step(plan_for({{2, 3}}, 0, steps[1], 2), *communicator);
    to->train_step(plan_for({{4, 1}}, 0, steps[1], 2), *communicator);
    BOOST_TEST(difference(copy_state(*to), copy_state(*from)) <= 1e-10, name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
