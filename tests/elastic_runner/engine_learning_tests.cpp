// Whole networks learn on small data, and a language model sees only what came before.
#include <ATen/ATen.h>

#include <boost/test/unit_test.hpp>

#include "elastic_runner/batch_loader.h"
#include "elastic_runner/models.h"
#include "tests/elastic_runner/engine_fixture.h"

namespace jabas {
namespace {

using namespace testing;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(engine_learning_tests, EngineFixture)

BOOST_AUTO_TEST_CASE(the_cnn_learns) {
  const auto communicator = solo();
  const auto engine = this->engine(options("cnn", "fp32"), {2, 1});
  const Evaluation before = engine->evaluate(0, 1);
  double first = 0, last = 0;
  for (std::int64_t step = 1; step <= 40; ++step) {
    const auto slices = consecutive({8, 8, 8, 8}, (step - 1) * 32 % 288);
    last = engine->train_step(plan_for({{2, 1}}, 0, slices, step), *communicator).loss;
    if (step == 1) first = last;
  }
  const Evaluation after = engine->evaluate(0, 1);
  BOOST_TEST_MESSAGE("loss " << first << " -> " << last << ", correct " << before.correct << " -> "
                             << after.correct);
  BOOST_TEST(first > 2.0);
  BOOST_TEST(last < 0.3);
  BOOST_TEST(after.correct > 120);
  BOOST_TEST(after.loss_sum < before.loss_sum / 4);
}

BOOST_AUTO_TEST_CASE(the_gpt_learns) {
  const auto communicator = solo();
  auto options = this->options("gpt", "fp32");
  options.optimizer.name = "adamw";
  const auto engine = this->engine(options, {2, 1});
  const Evaluation before = engine->evaluate(0, 1);
  BOOST_TEST(before.count == 49 * 16);  // a tenth of the samples, one label per byte
  BOOST_TEST(before.loss_sum / double(before.count) == std::log(256.0),
             boost::test_tools::tolerance(0.05));
  for (std::int64_t step = 1; step <= 100; ++step) {
    StepPlan plan = plan_for({{2, 1}}, 0, consecutive({8, 8, 8, 8}, (step - 1) * 32 % 400), step);
    plan.learning_rate = 0.01;
    engine->train_step(plan, *communicator);
  }
  const Evaluation after = engine->evaluate(0, 1);
  BOOST_TEST_MESSAGE("test loss " << before.loss_sum / double(before.count) << " -> "
                                  << after.loss_sum / double(after.count));
  BOOST_TEST(after.loss_sum < before.loss_sum / 3);
  BOOST_TEST(after.correct > after.count / 2);
}

// A byte is predicted from those before it.
BOOST_AUTO_TEST_CASE(the_gpt_does_not_look_ahead) {
  const auto options = this->options("gpt", "fp64");
  const auto loader = make_batch_loader(options, at::kDouble);
  const auto model = make_model(options, loader->shape(), at::kDouble);
  const at::Tensor bytes = at::arange(16, at::kLong).view({1, 16});
  at::Tensor other = bytes.clone();
  other[0][9] = 200;
  const at::Tensor difference =
      (model->forward({{bytes}, {}}, nullptr) - model->forward({{other}, {}}, nullptr))
          .abs()
          .amax({0, 2});
  for (std::int64_t i = 0; i < 16; ++i)
    BOOST_TEST((difference[i].item<double>() > 0) == (i >= 9), "position " << i);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
