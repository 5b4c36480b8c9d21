#include <boost/test/unit_test.hpp>
#include <random>

#include "spank_plugin/jabasd/planner.h"

using namespace jabas;

namespace {

// A member of `gpus` ready workers "<job>.<rank>".
PlanUnit unit(int request, const std::string& type, int gpus = 1) {
  PlanUnit result;
  result.request = request;
  result.gpu_type = type;
  result.gpus = gpus;
  result.started = result.ready = true;
  for (int rank = 0; rank < gpus; ++rank) {
    result.workers.push_back(
        {std::to_string(100 + request) + "." + std::to_string(rank), type, "n1"});
  }
  return result;
}

PlanUnit training_unit(int request, const std::string& type) {
  PlanUnit result = unit(request, type);
  result.in_use = true;
  return result;
}

PlanUnit pending_unit(int request, const std::string& type) {
  PlanUnit result = unit(request, type);
  result.started = result.ready = false;
  result.workers.clear();
  return result;
}

std::vector<PlanMember> workers_of(const std::vector<PlanUnit>& units) {
  std::vector<PlanMember> result;
  for (const PlanUnit& one : units)
    result.insert(result.end(), one.workers.begin(), one.workers.end());
  return result;
}

std::string ranks(const GenerationPlan& plan) {
  std::string text;
  for (const PlanMember& member : plan.members)
    text += (text.empty() ? "" : " ") + member.worker_id;
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(planner_tests)

BOOST_AUTO_TEST_CASE(asks_for_what_is_missing_in_whole_members) {
  const RequestPlan plan =
      plan_requests({{"v100", 4}, {"p100", 2}}, {}, {unit(1, "v100", 2)}, 2, {});
  BOOST_TEST((plan.ask == std::vector<RequestPlan::Ask>{{"p100", 2}, {"v100", 2}}));
  BOOST_TEST(plan.give_back.empty());
}

BOOST_AUTO_TEST_CASE(base_gpus_are_not_asked_for) {
  const RequestPlan plan = plan_requests({{"v100", 3}}, {{"v100", 2}}, {}, 1, {});
  BOOST_TEST((plan.ask == std::vector<RequestPlan::Ask>{{"v100", 1}}));
}

BOOST_AUTO_TEST_CASE(a_type_that_backs_off_is_not_asked_for) {
  BOOST_TEST(plan_requests({{"v100", 3}}, {}, {}, 1, {"v100"}).ask.empty());
}

BOOST_AUTO_TEST_CASE(members_on_their_way_out_are_replaced) {
  PlanUnit leaving = unit(1, "v100");
  leaving.leaving = true;
  BOOST_TEST(plan_requests({{"v100", 1}}, {}, {leaving}, 1, {}).ask.size() == 1u);
}

// What pends goes first, then the newest standby; what trains leaves only through a generation.
BOOST_AUTO_TEST_CASE(gives_back_what_costs_least_to_lose) {
  const std::vector<PlanUnit> members = {training_unit(1, "v100"), unit(2, "v100"), unit(3, "v100"),
                                         pending_unit(4, "v100")};
  BOOST_TEST((plan_requests({{"v100", 3}}, {}, members, 1, {}).give_back == std::vector<int>{4}));
  BOOST_TEST(
      (plan_requests({{"v100", 2}}, {}, members, 1, {}).give_back == std::vector<int>{4, 3}));
  BOOST_TEST((plan_requests({}, {}, members, 1, {}).give_back == std::vector<int>{4, 3, 2}));
}

BOOST_AUTO_TEST_CASE(base_first_then_survivors_in_old_order_then_joiners) {
  const std::vector<PlanMember> base = {{"7.0", "v100", "n1"}};
  const std::vector<PlanUnit> members = {unit(1, "v100"), unit(2, "v100"), unit(3, "p100")};
  const std::vector<PlanMember> training = {base[0], members[1].workers[0], members[0].workers[0]};
  const GenerationPlan plan = plan_generation({{"v100", 3}, {"p100", 1}}, base, training, members);
  BOOST_TEST(ranks(plan) == "7.0 102.0 101.0 103.0");
  BOOST_TEST(plan.differs);
  BOOST_TEST(plan.complete);
}

BOOST_AUTO_TEST_CASE(nothing_to_do_when_the_wanted_set_trains) {
  const std::vector<PlanUnit> members = {unit(1, "v100"), unit(2, "v100")};
  const GenerationPlan plan = plan_generation({{"v100", 2}}, {}, workers_of(members), members);
  BOOST_TEST(!plan.differs);
  BOOST_TEST(plan.complete);
}

BOOST_AUTO_TEST_CASE(the_last_ranks_are_released_first) {
  const std::vector<PlanUnit> members = {unit(1, "v100"), unit(2, "v100"), unit(3, "v100")};
  const std::vector<PlanMember> training = {members[2].workers[0], members[0].workers[0],
                                            members[1].workers[0]};
  BOOST_TEST(ranks(plan_generation({{"v100", 1}}, {}, training, members)) == "103.0");
}

// A swap waits for its replacements, one for one, so that the run never shrinks on the way.
BOOST_AUTO_TEST_CASE(a_swap_exchanges_one_for_one) {
  std::vector<PlanUnit> members = {unit(1, "v100"), unit(2, "v100"), pending_unit(3, "p100"),
                                   pending_unit(4, "p100")};
  const std::vector<PlanMember> training = {members[0].workers[0], members[1].workers[0]};
  GenerationPlan plan = plan_generation({{"p100", 2}}, {}, training, members);
  BOOST_TEST(!plan.differs);
  BOOST_TEST(!plan.complete);
  members[2] = unit(3, "p100");
  plan = plan_generation({{"p100", 2}}, {}, training, members);
  BOOST_TEST(ranks(plan) == "101.0 103.0");
  members[3] = unit(4, "p100");
  plan = plan_generation({{"p100", 2}}, {}, training, members);
  BOOST_TEST(ranks(plan) == "101.0 103.0 104.0");  // one stays, it has the state
  BOOST_TEST(plan.keeps_one_back);
  BOOST_TEST(plan.complete);
  // One boundary later it goes.
  BOOST_TEST(ranks(plan_generation({{"p100", 2}}, {}, plan.members, members)) == "103.0 104.0");
}

BOOST_AUTO_TEST_CASE(a_preempted_member_leaves_and_carries_the_state_only_if_nobody_else_can) {
  std::vector<PlanUnit> members = {unit(1, "v100"), unit(2, "v100")};
  members[0].leaving = true;
  BOOST_TEST(ranks(plan_generation({{"v100", 1}}, {}, workers_of(members), members)) == "102.0");
  BOOST_TEST(ranks(plan_generation({{"v100", 1}}, {}, {members[0].workers[0]}, members)) ==
             "101.0 102.0");
}

// Over random histories: rank 0 trains already, nobody appears twice, members stay whole.
BOOST_AUTO_TEST_CASE(properties_hold_for_random_sets) {
  const unsigned seed = 20261;
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    const auto pick = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
    std::vector<PlanUnit> members;
    for (int i = 1, n = pick(6); i <= n; ++i) {
      members.push_back(unit(i, pick(1) ? "v100" : "p100", 2));
      members.back().leaving = pick(4) == 0;
      if (pick(3) == 0) members.back() = pending_unit(i, "v100");
    }
    std::vector<PlanMember> training;
    for (const PlanUnit& one : members) {
      if (pick(1)) training.insert(training.end(), one.workers.begin(), one.workers.end());
    }
    const GpuCounts wanted = {{"v100", 2 * pick(3)}, {"p100", 2 * pick(3)}};
    const GenerationPlan plan = plan_generation(wanted, {}, training, members);
    std::set<std::string> seen;
    for (const PlanMember& member : plan.members)
      BOOST_REQUIRE(seen.insert(member.worker_id).second);
    BOOST_REQUIRE(plan.members.size() % 2 == 0);
    const auto in_training = [&](const PlanMember& m) {
      return std::any_of(training.begin(), training.end(),
                         [&](const PlanMember& t) { return t.worker_id == m.worker_id; });
    };
    if (!training.empty()) {
      BOOST_REQUIRE(!plan.members.empty());
      BOOST_REQUIRE(in_training(plan.members.front()));
    }
  }
}

BOOST_AUTO_TEST_CASE(remaining_time_counts_down_between_reports) {
  Progress progress;
  progress.samples_per_s = 100;
  progress.epoch_samples = 10000;
  progress.samples_consumed = 8000;
  BOOST_TEST(remaining_epoch_s(progress, 0, 0) == 20.0);
  BOOST_TEST(remaining_epoch_s(progress, 5, 2) == 17.0);
  BOOST_TEST(remaining_epoch_s(progress, 50, 0) == 0.0);
  progress.samples_per_s = 0;
  BOOST_TEST(remaining_epoch_s(progress, 0, 0) == -1.0);
}

BOOST_AUTO_TEST_CASE(decides_when_a_member_would_just_be_ready) {
  BOOST_TEST(!time_to_decide(1, 3, 21, 10));
  BOOST_TEST(time_to_decide(1, 3, 20, 10));
  BOOST_TEST(time_to_decide(1, 3, 1, 10));    // the epoch is shorter than that: at once
  BOOST_TEST(!time_to_decide(1, 3, -1, 10));  // nothing known yet
  BOOST_TEST(!time_to_decide(3, 3, 1, 10));   // no boundary follows
}

BOOST_AUTO_TEST_SUITE_END()
