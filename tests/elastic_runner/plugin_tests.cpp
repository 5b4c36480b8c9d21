// The example plug-in of docs/, trained through the engine; and what is refused.
#include <ATen/ATen.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>

#include "allocator/error.h"
#include "tests/elastic_runner/engine_fixture.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

using namespace testing;

std::string example() {
  const char* build = std::getenv("JABAS_BUILD_DIR");
  BOOST_REQUIRE_MESSAGE(build, "JABAS_BUILD_DIR is set by CTest");
  return std::string(build) + "/lib/spirals.so";
}

EngineOptions spirals(const std::string& precision, const std::string& points = "600") {
  EngineOptions options;
  options.model = options.dataset = example();
  options.precision = precision;
  options.plugin_options = points;
  return options;
}

std::string refusal(const EngineOptions& options, const std::string& path) {
  try {
    make_iidp_engine(options);
  } catch (const Error& error) {
    const std::string text = error.what();
    return text.starts_with(path) ? text.substr(path.size()) : text;
  }
  return "";
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(plugin_tests, EngineFixture)

BOOST_AUTO_TEST_CASE(the_example_learns) {
  const auto communicator = solo();
  const auto engine = make_iidp_engine(spirals("fp32"));
  BOOST_TEST(engine->train_samples() == 600);
  engine->configure(2, 0, 100);
  const Evaluation before = engine->evaluate(0, 1);
  BOOST_TEST(before.count == 400);
  for (int step = 0; step < 300; ++step) {
    StepPlan plan = plan_for({{2, 0}}, 0, consecutive({100, 100}, step % 3 * 200), step + 1);
    plan.learning_rate = 0.1;
    engine->train_step(plan, *communicator);
  }
  const Evaluation after = engine->evaluate(0, 1);
  BOOST_TEST_MESSAGE(after.correct << " of " << after.count);
  BOOST_TEST(after.loss_sum < before.loss_sum * 0.8);
  BOOST_TEST(after.correct * 10 > after.count * 7);
}

BOOST_AUTO_TEST_CASE(the_placement_changes_nothing) {
  const std::vector<Slices> steps = {consecutive({9, 9, 9, 9}), consecutive({5, 4, 4}, 36)};
  const auto reference = train(spirals("fp64"), {{4, 0}}, steps);
  const auto other = train(spirals("fp64"), {{1, 1}, {2, 0}}, steps);
  BOOST_TEST(difference(other.states[0], reference.states[0]) <= 1e-12);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const TempDir directory;
  auto options = spirals("fp32", "1");
  BOOST_TEST(refusal(options, example()) == ": jabas_make_data: at least 2 points are needed");
  options = spirals("fp32");
  options.subset = 601;
  BOOST_TEST(refusal(options, "") == "--subset=601: the training set has 600 samples");
  options = this->options("cnn", "fp32");
  options.model = example();
  BOOST_TEST(refusal(options, example()) == ": jabas_make_model: the model reads rows of numbers");
  options.model = directory.path() + "/none.so";
  BOOST_TEST(refusal(options, options.model).starts_with(": cannot be loaded: "));
  const char* build = std::getenv("JABAS_BUILD_DIR");
  options.model = std::string(build) + "/lib/spank_jabas.so";
  const std::string reason = refusal(options, options.model);
  BOOST_TEST((reason.starts_with(": cannot be loaded: ") || reason.starts_with(": not a plug-in")),
             reason);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
