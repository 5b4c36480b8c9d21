// What each policy of the simulator does, and what must hold between them.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>

#include "allocator/batch_choice.h"
#include "allocator/csv_table.h"
#include "allocator/error.h"
#include "allocator/objective.h"
#include "allocator/simulator/policy_tools.h"
#include "allocator/step_solver.h"
#include "tests/allocator/simulator_fixtures.h"

namespace jabas::sim {
namespace {

const GpuCounts kCluster = {{"fast", 4}, {"slow", 8}};
const auto kNear = boost::test_tools::tolerance(1e-9);

// Passes everything on and remembers it.
class Watched : public Policy {
 public:
  explicit Watched(std::unique_ptr<Policy> policy) : policy_(std::move(policy)) {}
  Plan plan(const Observation& seen) override {
    asked.push_back(seen);
    plans.push_back(policy_->plan(seen));
    return plans.back();
  }
  ChangeCost change_cost() const override { return policy_->change_cost(); }
  bool every_row() const override { return policy_->every_row(); }
  std::vector<Observation> asked;
  std::vector<Plan> plans;

 private:
  std::unique_ptr<Policy> policy_;
};

Watched watch(const Setting& setting, const std::string& name,
              const Availability& availability = Availability(kCluster)) {
  Watched watched(make_policy(name, setting));
  simulate(setting, watched, availability);
  return watched;
}

Setting setting_for(const std::string& objective) {
  Setting setting = fixtures::small_setting();
  setting.objective = parse_objective(objective);
  setting.adapt_every = 20;
  return setting;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(policies_tests)

BOOST_AUTO_TEST_CASE(unknown_names_are_refused_with_the_known_ones) {
  const Setting setting = fixtures::small_setting();
  BOOST_TEST(policy_names().size() == 10u);
  BOOST_CHECK_EXCEPTION(make_policy("best", setting), UsageError, [](const Error& error) {
    return std::string(error.what()).find("static-tuned, simigrad, simigrad-jump, pollux") !=
           std::string::npos;
  });
}

// 64 samples on one fast GPU, which holds 32: two passes of 32 and nothing to reduce.
BOOST_AUTO_TEST_CASE(static_keeps_its_batch) {
  Setting setting = fixtures::small_setting();
  setting.fixed_batch = 64;
  const RunResult result = fixtures::run_policy(setting, "static", Availability({{"fast", 1}}));
  BOOST_TEST(result.final_batch == 64);
  BOOST_TEST(result.steps == 500 / 3.0 + 500 / 3.8, kNear);
  BOOST_TEST(result.time_s == result.steps * 2 * (0.01 + 32 * 0.001), kNear);
  BOOST_TEST(result.cost == result.time_s * 3.6 / 3600, kNear);
}

BOOST_AUTO_TEST_CASE(equal_split_gives_every_gpu_the_same) {
  const Setting setting = fixtures::small_setting();
  // 2 fast + 2 slow, 1 node each: 16 samples a GPU; the slow ones decide, also in the all-reduce.
  const Plan plan = equal_split(64, {{"fast", 2}, {"slow", 2}}, setting);
  BOOST_TEST(plan.batch == 64);
  BOOST_TEST(plan.step_s == 0.01 + 16 * 0.004 + 0.008, kNear);
  BOOST_TEST(!plan.clamped);
  // Beyond what fits: two passes. Below: the smallest.
  BOOST_TEST(equal_split(256, {{"fast", 4}}, setting).step_s == 2 * (0.01 + 32 * 0.001) + 0.002,
             kNear);
  BOOST_TEST(equal_split(16, {{"fast", 4}, {"slow", 8}}, setting).batch == 48);
  BOOST_TEST(equal_split(16, {{"fast", 4}, {"slow", 8}}, setting).clamped);
}

BOOST_AUTO_TEST_CASE(simigrad_changes_by_ten_percent_on_all_gpus) {
  const Setting setting = setting_for("time");
  const Watched run = watch(setting, "simigrad");
  double wanted = 48;  // the least that twelve GPUs can run
  bool grew = false;
  for (std::size_t i = 0; i < run.plans.size(); ++i) {
    BOOST_TEST(to_list(run.plans[i].gpus) == "fast:4,slow:8");
    if (run.asked[i].moment != Moment::kAdjust) continue;
    const bool more = expected_similarity(double(run.asked[i].plan.batch), run.asked[i].noise) <
                      setting.similarity_target;
    wanted = std::clamp(wanted * (more ? 1.1 : 0.9), 48.0, 256.0);
    // The nearest whole local batch on twelve GPUs.
    BOOST_TEST(std::abs(double(run.plans[i].batch) - wanted) <= 6.5);
    grew = grew || run.plans[i].batch > 48;
  }
  BOOST_TEST(grew);
}

BOOST_AUTO_TEST_CASE(simigrad_jump_goes_to_the_target_at_once) {
  const Setting setting = setting_for("time");
  const Watched run = watch(setting, "simigrad-jump");
  // φ = 0.3 at 2·5·16·0.3/0.7 = 68.6 samples: 5.7 on each of twelve GPUs.
  BOOST_TEST(run.plans.front().batch == 72);
}

BOOST_AUTO_TEST_CASE(pollux_has_one_type_and_the_best_batch_for_it) {
  const Setting setting = setting_for("time");
  for (const Plan& plan : watch(setting, "pollux").plans) BOOST_TEST(plan.gpus.size() == 1u);
}

BOOST_AUTO_TEST_CASE(paper_has_pairs_and_profiled_local_batches) {
  const Setting setting = setting_for("time");
  const ThroughputModel model(setting.profile, ModelRules{true, false});
  for (const Plan& plan : watch(setting, "paper").plans) {
    for (const auto& [type, count] : plan.gpus) BOOST_TEST(count % 2 == 0);
    BOOST_TEST((plan.local_batch == 4 || plan.local_batch == 8 || plan.local_batch == 16 ||
                plan.local_batch == 32));
    BOOST_TEST(plan.batch % (2 * plan.local_batch) == 0);
    // The predicted step is that of all the workers of the batch.
    RankedGpus pairs{{}, ranked(plan.gpus, setting.profile).nodes, 2};
    for (const auto& [type, count] : plan.gpus)
      pairs.types.insert(pairs.types.end(), std::size_t(count) / 2, type);
    const Solution solution = solve(pairs, plan.local_batch, plan.batch / plan.local_batch, model);
    BOOST_TEST_REQUIRE(solution.configuration.has_value(), solution.reason);
    BOOST_TEST(plan.step_s == solution.configuration->step_s, kNear);
  }
}

BOOST_AUTO_TEST_CASE(static_tuned_is_the_best_of_the_fixed_runs) {
  Setting setting = setting_for("time:0");
  const RunResult tuned = fixtures::run_policy(setting, "static-tuned", Availability(kCluster));
  for (const int gpus : {1, 2, 4})
    for (const std::int64_t batch : {16, 32, 64, 128, 256}) {
      setting.fixed_batch = batch;
      const RunResult fixed =
          fixtures::run_policy(setting, "static", Availability({{"fast", gpus}}));
      BOOST_TEST(tuned.time_s <= fixed.time_s * (1 + 1e-9));
    }
}

BOOST_AUTO_TEST_CASE(
    jabas_is_bounded_between_adjustments_and_keeps_local_batch_and_workers_at_a_loss) {
  const Setting setting = setting_for("time:0");
  const Availability availability(kCluster,
                                  CsvTable::parse("time_s,type,gpus\n2,fast,2\n", "a.csv"));
  const Watched run = watch(setting, "jabas", availability);
  bool lost = false;
  for (std::size_t i = 0; i < run.plans.size(); ++i) {
    const Plan &before = run.asked[i].plan, &after = run.plans[i];
    if (run.asked[i].moment == Moment::kAdjust) {
      BOOST_TEST(to_list(after.gpus) == to_list(before.gpus));
      BOOST_TEST(double(after.batch) <= 2.0 * double(before.batch));
      BOOST_TEST(2.0 * double(after.batch) >= double(before.batch));
    }
    if (run.asked[i].moment == Moment::kLoss) {
      lost = true;
      BOOST_TEST(after.batch == before.batch);
      BOOST_TEST(after.local_batch == before.local_batch);
      BOOST_TEST(to_list(after.gpus) == to_list(before.gpus));
    }
  }
  BOOST_TEST(lost);
}

// No policy with identical virtual workers beats what knows everything and pays for nothing.
BOOST_AUTO_TEST_CASE(bound_is_not_slower_than_any_other) {
  const Setting setting = setting_for("time:0");
  const Availability availability(kCluster);
  const double bound_s = fixtures::run_policy(setting, "bound", availability).time_s;
  for (const char* name :
       {"static", "static-tuned", "simigrad", "simigrad-jump", "pollux", "paper", "jabas"})
    BOOST_TEST(bound_s <= fixtures::run_policy(setting, name, availability).time_s * (1 + 1e-9),
               name);
}

BOOST_AUTO_TEST_CASE(every_policy_does_all_the_work_the_same_way_each_time) {
  const Setting setting = setting_for("balanced");
  const Availability availability(
      kCluster, CsvTable::parse("time_s,type,gpus,wait_s\n1,slow,2,0\n3,slow,8,2\n", "a.csv"));
  for (const std::string& name : policy_names()) {
    const RunResult first = fixtures::run_policy(setting, name, availability);
    const RunResult second = fixtures::run_policy(setting, name, availability);
    BOOST_TEST(first.time_s == second.time_s, name);
    BOOST_TEST(first.cost == second.cost, name);
    BOOST_TEST(first.steps > 0, name);
  }
}

// Brute force over every (b, N) of a set.
BOOST_AUTO_TEST_CASE(the_frontier_leaves_out_nothing_that_is_better) {
  const Setting setting = fixtures::small_setting();
  for (const GpuCounts& set : {GpuCounts{{"fast", 2}}, GpuCounts{{"fast", 1}, {"slow", 2}}}) {
    BatchFrontier frontier;
    add_identical_workers(set, setting, &frontier);
    const RankedGpus ranks = ranked(set, setting.profile);
    for (std::int64_t b = 4; b <= 32; ++b)
      for (std::int64_t workers = total(set); b * workers <= 256; ++workers) {
        if (b * workers < 16) continue;
        const double step_s = solve(ranks, b, workers, setting.model).configuration->step_s;
        const auto point = frontier.points().lower_bound(b * workers);
        BOOST_TEST_REQUIRE((point != frontier.points().end()));
        BOOST_TEST(point->second.step_s <= step_s * (1 + 1e-9));
      }
    for (const auto& [batch, plan] : frontier.points())
      BOOST_TEST(
          plan.step_s == solve(ranks, plan.local_batch, batch / plan.local_batch, setting.model)
                             .configuration->step_s,
          kNear);
  }
}

// A fast GPU does 32 samples while a slow one does 8: 0.042 s, and the slower network.
BOOST_AUTO_TEST_CASE(uneven_gives_each_type_its_own_local_batch) {
  const Setting setting = fixtures::small_setting();
  BatchFrontier frontier;
  add_uneven_batches({{"fast", 2}, {"slow", 2}}, setting, true, &frontier);
  const auto point = frontier.points().find(2 * 32 + 2 * 8);
  BOOST_TEST_REQUIRE((point != frontier.points().end()));
  BOOST_TEST(point->second.step_s == 0.042 + 0.008, kNear);
  BatchFrontier identical;
  add_identical_workers({{"fast", 2}, {"slow", 2}}, setting, &identical);
  for (const auto& [batch, plan] : identical.points())
    BOOST_TEST(!frontier.admits(batch, plan.step_s * (1 + 1e-9)));
}

BOOST_AUTO_TEST_CASE(without_accumulation_a_gpu_takes_no_more_than_its_largest_local_batch) {
  const Setting setting = fixtures::small_setting();
  const GpuCounts gpus = {{"fast", 2}, {"slow", 2}};
  std::int64_t most = 0;
  for (const auto& [type, count] : gpus) most += count * setting.model.find(type)->largest_batch();
  BatchFrontier one_pass, any;
  add_uneven_batches(gpus, setting, false, &one_pass);
  add_uneven_batches(gpus, setting, true, &any);
  BOOST_TEST_REQUIRE(!one_pass.points().empty());
  BOOST_TEST(one_pass.points().rbegin()->first == std::min(most, setting.workload.batch_max()));
  for (const auto& [batch, plan] : one_pass.points())
    BOOST_TEST(!any.admits(batch, plan.step_s * (1 + 1e-9)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas::sim
