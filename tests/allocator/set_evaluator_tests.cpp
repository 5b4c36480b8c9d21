// The quick choices of SetEvaluator are those of choose_batch_on and choose_goodput.
#include <boost/test/unit_test.hpp>
#include <random>

#include "allocator/batch_choice.h"
#include "allocator/goodput_choice.h"
#include "allocator/set_evaluator.h"
#include "tests/allocator/random_states.h"

namespace jabas {

BOOST_AUTO_TEST_SUITE(set_evaluator_tests)

BOOST_AUTO_TEST_CASE(choices_are_those_of_the_slow_functions) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const auto whole = [&](int from, int to) {
    return std::uniform_int_distribution<>(from, to)(random);
  };
  int clamped = 0, goodput = 0, infeasible = 0;
  for (int round = 0; round < 400; ++round) {
    const DecisionState state = fixtures::random_state(random);
    const ThroughputModel model(state.profile);
    std::vector<std::string> types;
    for (const auto& [type, profile] : state.profile.types) types.push_back(type);
    BatchRules rules = state.batch;
    rules.needs_two_workers = whole(0, 1) == 1;
    rules.batch_max = whole(32, 2000);
    if (whole(0, 19) == 0) rules.fixed_local_batch = 20;  // larger than is profiled
    const SpeedTable table(state.profile, model, types, rules.fixed_local_batch);
    std::vector<BatchGoal> goals;
    std::vector<double> wanted;
    std::vector<GradientNoise> noises;
    for (int i = 0; i < 6; ++i) {
      wanted.push_back(whole(100, 20'000) / 10.0);
      noises.push_back({1, whole(1, 300) / 10.0, 32});
      goals.push_back(i < 4 ? goal_of_batch(wanted[i], noises[i], rules)
                            : goal_of_goodput(noises[i], rules));
    }
    SetEvaluator evaluator(types, table, model, rules, goals);
    for (int set = 0; set < 3; ++set) {
      Counts counts;
      GpuCounts gpus;
      for (const std::string& type : types) {
        counts.push_back(whole(0, 3) * whole(0, 2));
        if (counts.back() > 0) gpus[type] = counts.back();
      }
      if (gpus.empty()) continue;
      const RankedGpus ranks = ranked(gpus, state.profile);
      const bool usable = evaluator.use(counts);
      for (std::size_t i = 0; i < goals.size(); ++i) {
        const BatchChoice slow = i < 4 ? choose_batch_on(wanted[i], ranks, rules, model)
                                       : choose_goodput(ranks, rules, noises[i], model);
        const std::string where = "seed " + std::to_string(seed) + " round " +
                                  std::to_string(round) + " " + to_list(gpus) + " goal " +
                                  std::to_string(i) + " " + std::to_string(wanted[i]);
        BOOST_TEST_REQUIRE(usable == slow.configuration.has_value(), where);
        if (!usable) {
          ++infeasible;
          continue;
        }
        const StepChoice quick = evaluator.choose(i);
        BOOST_TEST_REQUIRE(quick.local_batch == slow.configuration->local_batch, where);
        BOOST_TEST_REQUIRE(quick.workers == slow.configuration->virtual_workers, where);
        BOOST_TEST_REQUIRE(quick.clamped == slow.clamped, where);
        BOOST_TEST_REQUIRE(std::abs(quick.step_s / slow.configuration->step_s - 1) < 1e-9, where);
        clamped += quick.clamped;
        goodput += goals[i].free;
      }
    }
  }
  BOOST_TEST(clamped > 100);
  BOOST_TEST(goodput > 100);
  BOOST_TEST(infeasible > 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
