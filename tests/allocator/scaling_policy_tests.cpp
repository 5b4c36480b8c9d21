#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>

#include "allocator/scaling_policy.h"
#include "tests/allocator/decision_fixtures.h"

namespace jabas {
namespace {

using Action = Decision::Action;

using fixtures::priced;

}  // namespace

BOOST_AUTO_TEST_SUITE(scaling_policy_tests)

BOOST_AUTO_TEST_CASE(time_takes_the_fast_and_cost_the_cheap) {
  const Decision fast = decide(priced("time", 1, 1));
  BOOST_TEST(to_list(fast.after) == "p100:2,v100:2");
  BOOST_TEST((fast.action == Action::kGrow));
  // Per sample a v100 costs 2, a p100 costs 1.
  const Decision cheap = decide(priced("cost", 4, 1, {{"v100", 2}}));
  BOOST_TEST(to_list(cheap.after) == "p100:2");
  BOOST_TEST((cheap.action == Action::kSwap));
}

BOOST_AUTO_TEST_CASE(time_buys_no_useless_gpus) {
  DecisionState state = priced("time", 1, 1);
  state.supply["p100"].max = 0;
  state.supply["p100"].free = 0;
  state.held = {{"v100", 1}};
  state.supply["v100"].max = 2;
  state.supply["v100"].free = 1;
  state.profile.bucket_bytes = {1e6};
  state.profile.intra = {2e6 / 0.092,
                         {}};  // of 188 ms with 2 GPUs, 92 are communication; 192 ms with one
  const Decision decision = decide(state);
  BOOST_TEST(to_list(decision.after) == "v100:1");
  state.objective = parse_objective("time:0");
  BOOST_TEST(to_list(decide(state).after) == "v100:1");
}

BOOST_AUTO_TEST_CASE(cost_alone_says_what_it_gives_up) {
  const Decision decision = decide(priced("cost", 40, 1, {{"p100", 1}}));
  BOOST_TEST((decision.action == Action::kKeep));
  BOOST_TEST(decision.reason.find(
                 "; cost alone counts: a faster set, 2×p100 + 2×v100, needs 64 s for $") !=
                 std::string::npos,
             decision.reason);
}

BOOST_AUTO_TEST_CASE(balanced_tends_to_time_and_to_cost) {
  for (const auto& [v100, p100] : {std::pair(4.0, 1.0), {1.0, 1.0}, {1.0, 4.0}}) {
    BOOST_TEST(to_list(decide(priced("balanced:0.999", v100, p100)).after) ==
               to_list(decide(priced("time:0", v100, p100)).after));
    BOOST_TEST(decide(priced("balanced:0", v100, p100)).chosen.rest_cost ==
                   decide(priced("cost", v100, p100)).chosen.rest_cost,
               boost::test_tools::tolerance(1e-12));
  }
}

BOOST_AUTO_TEST_CASE(an_hour_worth_more_buys_more_speed) {
  double before_s = 1e18;
  for (const char* objective : {"value:0", "value:1", "value:10", "value:100"}) {
    DecisionState state = priced(objective, 3, 1);
    state.hysteresis = 0;
    const double rest_s = decide(state).chosen.rest_s;
    BOOST_TEST(rest_s <= before_s);
    before_s = rest_s;
  }
  BOOST_TEST(before_s == 64, boost::test_tools::tolerance(1e-9));
}

// Spot prices turn over twice while a run of short epochs goes on: the cheap type grows, the dear
// one is released.
BOOST_AUTO_TEST_CASE(a_price_flip_swaps_the_types) {
  Profile measured = fixtures::resnet50();
  for (const char* objective : {"balanced", "balanced:0.4", "balanced:0.6"}) {
    DecisionState state;
    state.epochs = 6;
    state.batch = {.batch_min = 128, .batch_max = 1024, .current_local_batch = 32};
    state.adaptive = true;
    state.epoch_samples = 19'000;  // about 30 s
    state.objective = parse_objective(objective);
    state.resize_pause_s = 2;
    state.startup_s = 5;
    state.evaluation_s = 1;
    state.profile = measured;
    const auto at = [&](int epoch, double batch, double v100, double p100) {
      state.start = epoch == 1;
      state.next_epoch = epoch;
      state.wanted_batch = batch;
      state.epochs_per_stay = epoch > 3 ? 2 : 0;
      for (const auto& [type, price] : {std::pair("v100", v100), {"p100", p100}}) {
        const auto held = state.held.find(type);
        state.supply[type] = {.max = 2,
                              .free = 2 - (held == state.held.end() ? 0 : held->second),
                              .price_per_h = price};
      }
      const Decision decision = decide(state);
      state.epochs_since_change =
          decision.action == Action::kKeep ? state.epochs_since_change + 1 : 1;
      state.held = decision.after;
      return decision;
    };
    BOOST_TEST(to_list(at(1, 128, 3.0, 0.3).after) == "p100:2");
    BOOST_TEST((at(2, 200, 3.0, 0.3).action == Action::kKeep));
    const Decision first = at(3, 300, 0.3, 3.0);
    BOOST_TEST((first.action == Action::kSwap));
    BOOST_TEST(to_list(first.after) == "v100:2");
    BOOST_TEST(first.reason.starts_with("swap: 2×v100 finishes the rest in "), first.reason);
    const Decision second = at(5, 500, 3.0, 0.3);
    BOOST_TEST((second.action == Action::kSwap));
    BOOST_TEST(to_list(second.after) == "p100:2");
    BOOST_TEST((at(6, 500, 3.0, 0.3).action == Action::kKeep));
  }
}

BOOST_AUTO_TEST_CASE(a_small_gain_changes_nothing) {
  DecisionState state =
      priced("cost", 4, 2 * 0.98, {{"v100", 2}});  // per sample p100 is 2 % cheaper
  Decision decision = decide(state);
  BOOST_TEST((decision.action == Action::kKeep));
  BOOST_TEST(to_list(decision.after) == "v100:2");
  BOOST_TEST(decision.reason ==
             "keep: 2×p100 would finish the rest in 192 s for $0.209 against 96 s and $0.213 with "
             "2×v100, a gain of 2.0 % "
             "where a change needs 5 % (cost)");
  BOOST_TEST(to_list(decision.best.front().gpus) == "p100:2");
  state.hysteresis = 0.01;
  decision = decide(state);
  BOOST_TEST((decision.action == Action::kSwap));
}

BOOST_AUTO_TEST_CASE(changes_are_a_minimum_interval_apart) {
  DecisionState state = priced("time", 1, 1);
  state.min_interval_epochs = 3;
  state.epochs_since_change = 2;
  const Decision decision = decide(state);
  BOOST_TEST((decision.action == Action::kKeep));
  BOOST_TEST(
      decision.reason ==
      "keep: 2×p100 + 2×v100 would finish the rest in 64 s for $0.0711 against 192 s and $0.107 "
      "with 2×p100, but "
      "the last change was 2 epochs ago and changes are at least 3 epochs apart (time 0.05)");
  state.epochs_since_change = 3;
  BOOST_TEST((decide(state).action == Action::kGrow));
}

BOOST_AUTO_TEST_CASE(a_dear_change_does_not_pay_for_a_short_rest) {
  DecisionState state = priced("time", 1, 1);
  state.resize_pause_s = 30;
  BOOST_TEST((decide(state).action == Action::kGrow));  // 192 s against 64 + 30
  state.next_epoch = 6;
  BOOST_TEST((decide(state).action == Action::kKeep));  // 48 s against 16 + 30
}

BOOST_AUTO_TEST_CASE(the_first_decision_starts_with_the_best_set) {
  DecisionState state = priced("balanced", 3, 0.3, {});
  state.start = true;
  state.next_epoch = 1;
  const Decision decision = decide(state);
  BOOST_TEST((decision.action == Action::kStart));
  BOOST_TEST(decision.before.empty());
  BOOST_TEST(to_list(decision.after) == "p100:2");
  BOOST_TEST(decision.present.gpus.empty());
  BOOST_TEST(decision.reason.starts_with("start: 2×p100 finishes the run in 288 s for $"),
             decision.reason);
}

BOOST_AUTO_TEST_CASE(below_the_minimum_a_replacement_is_asked_for_whatever_it_gains) {
  DecisionState state = priced("cost", 1, 100, {{"v100", 1}, {"p100", 1}});
  state.supply["p100"].min = 2;
  state.epochs_since_change = 0;
  const Decision decision = decide(state);
  BOOST_TEST(to_list(decision.after).starts_with("p100:2"));
  BOOST_TEST(decision.reason.ends_with("; p100 was below its minimum"), decision.reason);
  state.supply["p100"].free = 0;  // nothing to replace it with: the run goes on
  BOOST_TEST(total(decide(state).after) > 0);
}

BOOST_AUTO_TEST_CASE(a_set_that_runs_only_a_larger_batch_is_flagged) {
  DecisionState state = priced("time", 1, 1, {{"v100", 2}, {"p100", 2}});
  for (auto& [type, supply] : state.supply) supply.min = 2;
  state.adaptive = true;
  state.batch.batch_min = state.wanted_batch = 32;
  state.batch.batch_max = 1024;
  const Decision decision = decide(state);
  BOOST_TEST(decision.chosen.batch_clamped);
  BOOST_TEST(decision.reason.ends_with("; batch clamped to 64"), decision.reason);
}

BOOST_AUTO_TEST_CASE(nothing_possible_keeps_with_the_causes) {
  DecisionState state = priced("time", 1, 1);
  state.batch.fixed_local_batch = 100;
  const Decision decision = decide(state);
  BOOST_TEST((decision.action == Action::kKeep));
  BOOST_TEST(to_list(decision.after) == "p100:2");
  BOOST_TEST(decision.reason ==
             "keep: no set of GPUs can be predicted: local batch 100 is not known to fit into the "
             "memory of every GPU (8); "
             "no GPU (1)");
  BOOST_TEST(decision.best.empty());
}

BOOST_AUTO_TEST_CASE(a_start_without_any_profile_measures_on_one_member) {
  DecisionState state = priced("time", 3, 1, {});
  state.start = true;
  state.profile = {};
  Decision decision = decide(state);
  BOOST_TEST((decision.action == Action::kStart));
  BOOST_TEST(to_list(decision.after) == "v100:1");  // 14.13 TFLOP/s
  BOOST_TEST(decision.reason == "start: 1×v100 without a prediction: no GPU (1)");
  state.objective = parse_objective("cost");
  BOOST_TEST(to_list(decide(state).after) == "p100:1");  // 9.52 for a third of the price
  state.supply["v100"].min = 2;
  BOOST_TEST(to_list(decide(state).after) == "v100:2");
  state.start = false;
  state.held = {{"v100", 2}};
  decision = decide(state);
  BOOST_TEST((decision.action == Action::kKeep));
  BOOST_TEST(decision.reason.starts_with("keep: no set of GPUs can be predicted: "),
             decision.reason);
}

BOOST_AUTO_TEST_CASE(no_epoch_left_keeps) {
  DecisionState state = priced("time", 1, 1);
  state.next_epoch = 7;
  BOOST_TEST(decide(state).reason == "keep: no epoch is left");
}

// Over random states: counts within the limits and what is there, whole units above the base, the
// best list sorted, and the decision stable once made.
BOOST_AUTO_TEST_CASE(decisions_stay_within_the_limits_and_settle) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const auto whole = [&](int from, int to) {
    return std::uniform_int_distribution<>(from, to)(random);
  };
  for (int round = 0; round < 100; ++round) {
    DecisionState state = fixtures::two_type_state();
    state.profile = fixtures::random_profile(random);
    state.batch = {.batch_min = 32, .batch_max = 512, .current_local_batch = 8};
    state.wanted_batch = whole(32, 512);
    state.objective = parse_objective(
        std::vector<std::string>{"time", "cost", "balanced", "value:3"}[std::size_t(whole(0, 3))]);
    state.unit = whole(1, 2);
    state.held.clear();
    state.supply.clear();
    for (const char* type : {"a", "b", "c"}) {
      TypeSupply supply{.price_per_h = 0.5 * whole(1, 8)};
      supply.base = type[0] == 'a' ? whole(0, 1) : 0;
      supply.min = supply.base;
      supply.max = supply.base + state.unit * whole(0, 2);
      supply.free = whole(0, 4);
      state.held[type] =
          supply.base + state.unit * whole(0, (supply.max - supply.base) / state.unit);
      state.supply[type] = supply;
    }
    if (total(state.held) == 0) continue;
    state.resize_pause_s = whole(0, 3);
    const Decision decision = decide(state);
    for (const auto& [type, supply] : state.supply) {
      const int count = decision.after.contains(type) ? decision.after.at(type) : 0;
      BOOST_TEST_REQUIRE(count >= std::max(supply.min, supply.base), "seed " << seed);
      BOOST_TEST_REQUIRE(count <= std::min(supply.max, state.held[type] + supply.free),
                         "seed " << seed);
      BOOST_TEST_REQUIRE((count - supply.base) % state.unit == 0, "seed " << seed);
    }
    BOOST_TEST_REQUIRE(decision.best.size() <= 10u);
    BOOST_TEST_REQUIRE(!decision.reason.empty());
    for (std::size_t i = 1; i < decision.best.size() && i < 9; ++i)
      BOOST_TEST_REQUIRE(decision.best[i - 1].score <= decision.best[i].score, "seed " << seed);
    for (auto& [type, supply] : state.supply) {
      const int count = decision.after.contains(type) ? decision.after.at(type) : 0;
      supply.free = state.held[type] + supply.free - count;
      state.held[type] = count;
    }
    const Decision again = decide(state);
    BOOST_TEST_REQUIRE(to_list(again.after) == to_list(decision.after),
                       "seed " << seed << ": " << again.reason);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
