// The engine: time, money and progress of a run, counted by hand with policies that do as told.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <numeric>

#include "allocator/csv_table.h"
#include "allocator/error.h"
#include "tests/allocator/simulator_fixtures.h"

namespace jabas::sim {
namespace {

const auto kNear = boost::test_tools::tolerance(1e-9);

// Answers every question by a function; remembers what was asked.
class ScriptedPolicy : public Policy {
 public:
  using Answer = std::function<Plan(const Observation&)>;
  explicit ScriptedPolicy(Answer answer, ChangeCost cost = {5, 0})
      : answer_(std::move(answer)), cost_(cost) {}
  Plan plan(const Observation& seen) override {
    asked.push_back(seen);
    return answer_(seen);
  }
  ChangeCost change_cost() const override { return cost_; }
  std::vector<Observation> asked;

 private:
  Answer answer_;
  ChangeCost cost_;
};

Availability with(const GpuCounts& cluster, const std::string& rows) {
  return Availability(cluster, CsvTable::parse("time_s,type,gpus,wait_s\n" + rows, "a.csv"));
}
// 64 samples in 0.1 s on all that is available.
Plan all_at_64(const Observation& seen) { return {seen.available, 64, 16, 0.1, false}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(simulation_tests)

// 500/3 steps and 500/3.8 steps of 0.1 s on 4 fast GPUs at $3.60 an hour.
BOOST_AUTO_TEST_CASE(a_run_at_one_batch_takes_the_steps_of_its_rows) {
  const Setting setting = fixtures::small_setting();
  ScriptedPolicy policy(all_at_64);
  const RunResult result = simulate(setting, policy, Availability({{"fast", 4}}));
  const double steps = 500 / 3.0 + 500 / 3.8;
  BOOST_TEST(result.steps == steps, kNear);
  BOOST_TEST(result.time_s == steps * 0.1, kNear);
  BOOST_TEST(result.cost == steps * 0.1 * 4 * 3.6 / 3600, kNear);
  BOOST_TEST(result.epochs == steps * 64 / 4000, kNear);
  BOOST_TEST(result.resizes == 0);
  BOOST_TEST(result.final_batch == 64);
  BOOST_TEST(result.final_metric == 0.9, kNear);
  // Epochs of 62.5 steps, the last one cut off.
  BOOST_TEST_REQUIRE(result.rows.size() == 5u);
  BOOST_TEST(result.rows[0].steps == 62.5, kNear);
  BOOST_TEST(result.rows[4].steps == steps - 4 * 62.5, kNear);
  double time_s = 0, cost = 0;
  for (const EpochRow& row : result.rows) time_s += row.time_s, cost += row.cost;
  BOOST_TEST(time_s == result.time_s, kNear);
  BOOST_TEST(cost == result.cost, kNear);
}

BOOST_AUTO_TEST_CASE(the_policy_is_asked_every_p_steps_and_at_every_epoch) {
  const Setting setting = fixtures::small_setting();
  ScriptedPolicy policy(all_at_64);
  simulate(setting, policy, Availability({{"fast", 4}}));
  std::string moments;
  for (const Observation& seen : policy.asked)
    moments += seen.moment == Moment::kStart      ? "S"
               : seen.moment == Moment::kAdjust   ? "A"
               : seen.moment == Moment::kBoundary ? "B"
                                                  : "L";
  // Steps: 62.5 B, 100 A, 125 B, 187.5 B, 200 A, 250 B, end at 298.2.
  BOOST_TEST(moments == "SBABBAB");
  BOOST_TEST(policy.asked[2].steps == 100);
  BOOST_TEST(policy.asked[2].noise.var == 5, kNear);
  BOOST_TEST(policy.asked[2].progress == 300, kNear);
  BOOST_TEST(policy.asked[3].epoch == 3);
  BOOST_TEST(policy.asked[3].epochs_since_change == 2);
  BOOST_TEST(policy.asked.back().noise.var == 40, kNear);
}

BOOST_AUTO_TEST_CASE(a_change_of_the_set_pauses_and_everything_is_paid) {
  const Setting setting = fixtures::small_setting();
  ScriptedPolicy policy(
      [](const Observation& seen) {
        const int gpus = seen.moment == Moment::kStart ? 2 : seen.epoch >= 2 ? 4 : 2;
        return Plan{{{"fast", gpus}}, 64, 16, 0.1, false};
      },
      {5, 10});
  const RunResult result = simulate(setting, policy, Availability({{"fast", 4}}));
  const double steps = 500 / 3.0 + 500 / 3.8;
  BOOST_TEST(result.resizes == 1);
  BOOST_TEST(result.time_s == steps * 0.1 + 5, kNear);
  const double gpu_s = 62.5 * 0.1 * 2 + (steps - 62.5) * 0.1 * 4 + 5 * 4 + 10 * 2;
  BOOST_TEST(result.cost == gpu_s * 3.6 / 3600, kNear);
}

BOOST_AUTO_TEST_CASE(gpus_that_queue_come_at_a_boundary_and_cost_nothing_before) {
  const Setting setting = fixtures::small_setting();
  ScriptedPolicy policy([](const Observation& seen) {
    return Plan{{{"fast", seen.moment == Moment::kStart ? 2 : 4}}, 64, 16, 0.1, false};
  });
  // Asked for at 6.25 s, here at 14.25 s: the change is at the boundary at 18.75 s.
  const RunResult result = simulate(setting, policy, with({{"fast", 4}}, "1,fast,4,8\n"));
  BOOST_TEST(result.resizes == 1);
  BOOST_TEST_REQUIRE(result.rows.size() == 5u);
  BOOST_TEST(to_list(result.rows[2].gpus) == "fast:2");
  BOOST_TEST(to_list(result.rows[3].gpus) == "fast:4");
  BOOST_TEST(result.time_s == (500 / 3.0 + 500 / 3.8) * 0.1 + 5, kNear);
  BOOST_TEST(result.waited_s == 0);
}

BOOST_AUTO_TEST_CASE(a_start_waits_for_the_queue_without_paying) {
  const Setting setting = fixtures::small_setting();
  ScriptedPolicy policy(all_at_64);
  const double run_s = (500 / 3.0 + 500 / 3.8) * 0.1;
  const RunResult queue = simulate(setting, policy, with({{"fast", 4}}, "0,fast,4,50\n"));
  BOOST_TEST(queue.waited_s == 50);
  BOOST_TEST(queue.time_s == run_s + 50, kNear);
  BOOST_TEST(queue.cost == run_s * 4 * 3.6 / 3600, kNear);
  const RunResult later =
      simulate(setting, policy, with({{"fast", 4}}, "0,fast,0,0\n20,fast,4,0\n"));
  BOOST_TEST(later.time_s == run_s + 20, kNear);
  BOOST_TEST(later.resizes == 0);
}

BOOST_AUTO_TEST_CASE(gpus_are_taken_away_at_their_moment) {
  const Setting setting = fixtures::small_setting();
  ScriptedPolicy policy([](const Observation& seen) {
    const int gpus = total(seen.moment == Moment::kLoss ? seen.plan.gpus : seen.available);
    return Plan{{{"fast", gpus}}, 64, 16, 0.4 / gpus, false};
  });
  const RunResult result = simulate(setting, policy, with({{"fast", 4}}, "10.02,fast,2,0\n"));
  BOOST_TEST(result.preemptions == 1);
  BOOST_TEST(result.resizes == 1);
  const auto loss = std::find_if(policy.asked.begin(), policy.asked.end(),
                                 [](const Observation& o) { return o.moment == Moment::kLoss; });
  BOOST_TEST_REQUIRE((loss != policy.asked.end()));
  BOOST_TEST(loss->time_s == 10.02, kNear);
  BOOST_TEST(to_list(loss->plan.gpus) == "fast:2");
  const double steps = 500 / 3.0 + 500 / 3.8, before = 100.2;
  BOOST_TEST(result.time_s == 10.02 + 5 + (steps - before) * 0.2, kNear);
  BOOST_TEST(result.cost == (10.02 * 4 + (5 + (steps - before) * 0.2) * 2) * 3.6 / 3600, kNear);
}

BOOST_AUTO_TEST_CASE(a_run_without_gpus_waits_for_some_and_fails_if_none_come) {
  const Setting setting = fixtures::small_setting();
  ScriptedPolicy policy(all_at_64);
  const RunResult result =
      simulate(setting, policy, with({{"fast", 4}}, "10,fast,0,0\n100,fast,4,0\n"));
  BOOST_TEST(result.waited_s == 90, kNear);
  BOOST_TEST(result.time_s == (500 / 3.0 + 500 / 3.8) * 0.1 + 90 + 5, kNear);
  BOOST_TEST(result.preemptions == 1);
  BOOST_CHECK_THROW(simulate(setting, policy, with({{"fast", 4}}, "10,fast,0,0\n")), InputError);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas::sim
