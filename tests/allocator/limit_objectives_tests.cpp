// Decisions for a deadline, a budget and the paper's objective.
#include <boost/test/unit_test.hpp>

#include "allocator/scaling_policy.h"
#include "tests/allocator/decision_fixtures.h"

namespace jabas {

BOOST_AUTO_TEST_SUITE(limit_objectives_tests)

// Rests: 64 s for $0.0711 on all four, 96 s for $0.0533 on 2×v100, 192 s for $0.107 on 2×p100.
BOOST_AUTO_TEST_CASE(a_deadline_takes_the_cheapest_in_time) {
  DecisionState state = fixtures::priced("deadline:100s", 1, 1);
  BOOST_TEST(to_list(decide(state).after) == "v100:2");
  state.elapsed_s = 30;
  const Decision late = decide(state);
  BOOST_TEST(to_list(late.after) == "p100:2,v100:2");
  BOOST_TEST(late.reason.find("late") == std::string::npos, late.reason);
  state.elapsed_s = 50;
  const Decision none = decide(state);
  BOOST_TEST(to_list(none.after) == "p100:2,v100:2");
  BOOST_TEST(none.reason.ends_with("; no set keeps the deadline: the fastest is 14 s late"),
             none.reason);
  state.elapsed_s = 0;
  state.epochs_since_change = 0;
  BOOST_TEST(decide(state).reason.ends_with("; the deadline is missed by 92 s"));
}

BOOST_AUTO_TEST_CASE(a_budget_takes_the_fastest_within) {
  DecisionState state = fixtures::priced("budget:0.06", 1, 1);
  BOOST_TEST(to_list(decide(state).after) == "v100:2");
  state.objective = parse_objective("budget:0.08");
  BOOST_TEST(to_list(decide(state).after) == "p100:2,v100:2");
  state.spent_cost = 0.05;
  const Decision none = decide(state);
  BOOST_TEST(to_list(none.after) == "v100:2");
  BOOST_TEST(none.reason.ends_with("; no set keeps the budget: the cheapest exceeds it by $0.0233"),
             none.reason);
}

BOOST_AUTO_TEST_CASE(paper_looks_at_the_next_epoch_only) {
  DecisionState state = fixtures::priced("paper", 100, 1);
  state.resize_pause_s = 5;  // amortised over a short stay the change would not pay for itself
  state.epochs_per_stay = 1;
  state.startup_s = 1000;
  BOOST_TEST(to_list(decide(state).after) == "p100:2,v100:2");
  BOOST_TEST(decide(state).chosen.score == 16 + 5, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
