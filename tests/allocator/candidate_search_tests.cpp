#include <boost/test/unit_test.hpp>
#include <random>

#include "allocator/candidate_search.h"
#include "allocator/candidates.h"
#include "allocator/objective.h"
#include "allocator/rate_bound.h"
#include "tests/allocator/decision_fixtures.h"

namespace jabas {
namespace {

// Any state of three noisy types, with waits, memory limits, known or unknown gradient noise, one
// to three epochs left.
DecisionState random_state(std::mt19937& random) {
  const auto whole = [&](int from, int to) {
    return std::uniform_int_distribution<>(from, to)(random);
  };
  DecisionState state = fixtures::two_type_state();
  state.profile = fixtures::random_profile(random);
  state.adaptive = whole(0, 3) > 0;
  state.next_epoch = whole(4, 6);
  state.batch = {.batch_min = 32, .batch_max = 1024, .current_local_batch = whole(8, 16)};
  if (whole(0, 2) == 0) state.batch.fixed_local_batch = whole(8, 16);
  state.wanted_batch = whole(20, 1100);
  state.grad_sqr = whole(0, 1);
  state.grad_var = whole(0, 20);
  state.evaluation_s = whole(0, 3);
  state.minimum_billing_s = whole(0, 500);
  state.epochs_since_change = whole(0, 3);
  state.epochs_per_stay = whole(0, 3);
  state.resize_pause_s = whole(0, 3);
  state.startup_s = whole(0, 10);
  state.start = whole(0, 4) == 0;
  const char* objectives[] = {"time",         "time:0.3",      "time:0",   "cost",
                              "balanced",     "balanced:0.2",  "value:3",  "value:900",
                              "deadline:20h", "deadline:100s", "budget:2", "budget:200",
                              "paper"};
  state.objective = parse_objective(objectives[whole(0, 12)]);
  state.elapsed_s = whole(0, 1) * whole(0, 1000);
  state.spent_cost = 0.1 * whole(0, 10);
  if (whole(0, 1) == 0) state.rest_progress = whole(1, 10'000);
  state.batch_policy = BatchPolicy(whole(0, 2));
  if (whole(0, 2) == 0) state.noise_history = {{1, whole(1, 30)}};
  state.held.clear();
  state.supply.clear();
  for (const char* type : {"a", "b", "c"}) {
    state.supply[type] = {.max = whole(0, 6),
                          .free = whole(0, 6),
                          .wait_s = double(whole(0, 1) * whole(0, 40)),
                          .price_per_h = 0.5 * whole(0, 8)};
    if (!state.start) state.held[type] = whole(0, state.supply[type].max);
  }
  return state;
}

SearchResult search(const DecisionState& state, std::size_t predict_all_up_to) {
  const Predictor predictor(state);
  std::string cause;
  std::optional<CandidateResult> present;
  if (!state.start) present = predictor.predict(present_set(state), &cause);
  return search_candidates(state, predictor,
                           for_the_rest(state.objective, state.elapsed_s, state.spent_cost),
                           candidates(state), present, predict_all_up_to);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(candidate_search_tests)

BOOST_AUTO_TEST_CASE(the_best_by_bounds_are_the_best_of_all) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  int bounded = 0;
  for (int round = 0; round < 300; ++round) {
    const DecisionState state = random_state(random);
    const SearchResult all = search(state, 1'000'000), some = search(state, 0);
    if (some.ranked.size() < all.ranked.size()) ++bounded;
    const std::size_t best = std::min(kBestSets, all.ranked.size());
    BOOST_TEST_REQUIRE(some.ranked.size() >= best, "seed " << seed << " round " << round);
    for (std::size_t i = 0; i < best; ++i) {
      BOOST_TEST_REQUIRE(to_list(some.ranked[i].gpus) == to_list(all.ranked[i].gpus),
                         "seed " << seed << " round " << round << " place " << i << " "
                                 << to_text(state.objective));
      BOOST_TEST_REQUIRE(some.ranked[i].rest_s == all.ranked[i].rest_s);
    }
  }
  BOOST_TEST(bounded > 20);
}

BOOST_AUTO_TEST_CASE(a_bound_is_never_above_what_is_predicted) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 100; ++round) {
    const DecisionState state = random_state(random);
    const Predictor predictor(state);
    const RateBound bound(state, predictor);
    for (const GpuCounts& set : candidates(state)) {
      std::string cause;
      const auto predicted = predictor.predict(set, &cause);
      if (!predicted) continue;
      BOOST_TEST_REQUIRE(bound.of(set).rest_s <= predicted->rest_s * (1 + 1e-9),
                         "seed " << seed << " " << to_list(set));
      BOOST_TEST_REQUIRE(bound.of(set).rest_cost <= predicted->rest_cost * (1 + 1e-9),
                         "seed " << seed);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_certificate_says_how) {
  DecisionState state = fixtures::two_type_state();
  BOOST_TEST(search(state, 9).certificate == "exhaustive over 9 candidates");
  for (auto& [type, supply] : state.supply) supply.max = supply.free = 12;
  state.adaptive = true;
  state.batch.batch_max = 4096;
  state.wanted_batch = 4096;
  const SearchResult bounded = search(state, 100);
  BOOST_TEST(bounded.certificate.starts_with("exact by bounds: "), bounded.certificate);
  BOOST_TEST(bounded.certificate.ends_with(
                 " of 169 candidates predicted, no other can be among the 10 best"),
             bounded.certificate);
  BOOST_TEST(bounded.rejected.at("cannot be among the 10 best (bound)") +
                 int(bounded.ranked.size()) ==
             169);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
