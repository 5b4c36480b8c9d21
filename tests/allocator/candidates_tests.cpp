#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "allocator/candidates.h"
#include "tests/allocator/decision_fixtures.h"

namespace jabas {
namespace {

std::string text(const DecisionState& state) {
  std::string all;
  for (const GpuCounts& set : candidates(state))
    all += (all.empty() ? "" : " | ") + (set.empty() ? "none" : to_list(set));
  return all;
}

DecisionState one_type(int min, int max, int base, int held, int free, int unit = 1) {
  DecisionState state = fixtures::two_type_state();
  state.supply = {
      {"p100",
       {.min = min, .max = max, .base = base, .free = free, .wait_s = 0, .price_per_h = 1}}};
  state.held = {{"p100", held}};
  state.unit = unit;
  return state;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(candidates_tests)

BOOST_AUTO_TEST_CASE(every_vector_of_counts) {
  DecisionState state = fixtures::two_type_state();
  state.supply["v100"].max = 1;
  BOOST_TEST(text(state) == "none | v100:1 | p100:1 | p100:1,v100:1 | p100:2 | p100:2,v100:1");
}

BOOST_AUTO_TEST_CASE(what_is_held_and_free_bounds_the_range) {
  BOOST_TEST(text(one_type(0, 8, 0, 2, 1)) == "none | p100:1 | p100:2 | p100:3");
  BOOST_TEST(text(one_type(1, 2, 0, 2, 9)) == "p100:1 | p100:2");
}

BOOST_AUTO_TEST_CASE(base_gpus_are_always_in_and_members_come_in_units) {
  BOOST_TEST(text(one_type(0, 6, 1, 1, 9, 2)) == "p100:1 | p100:3 | p100:5");
  BOOST_TEST(text(one_type(2, 6, 0, 2, 3, 2)) == "p100:2 | p100:4");
}

BOOST_AUTO_TEST_CASE(the_present_set_is_a_candidate_even_between_units) {
  BOOST_TEST(text(one_type(0, 4, 0, 3, 0, 2)) == "none | p100:2 | p100:3");
}

BOOST_AUTO_TEST_CASE(the_minimum_binds_the_start_and_later_only_what_is_there) {
  DecisionState state = one_type(3, 4, 0, 0, 1);
  state.start = true;
  BOOST_TEST(text(state) == "p100:3");
  state.start = false;
  state.held = {{"p100", 2}};
  state.supply["p100"].free = 0;
  BOOST_TEST(text(state) == "p100:2");
  BOOST_TEST(types_below_minimum(state, {{"p100", 2}}).empty());
  state.supply["p100"].free = 5;
  BOOST_TEST(text(state) == "p100:3 | p100:4 | p100:2");
  BOOST_TEST(types_below_minimum(state, {{"p100", 2}}).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_start_with_nothing_free_asks_for_what_slurm_will_queue) {
  DecisionState state = one_type(0, 2, 0, 0, 0);
  state.start = true;
  BOOST_TEST(text(state) == "none | p100:1 | p100:2");
}

BOOST_AUTO_TEST_CASE(a_type_without_profile_is_used_up_to_its_minimum) {
  DecisionState state = fixtures::two_type_state();
  state.profile.types.erase("v100");
  BOOST_TEST(text(state) == "none | p100:1 | p100:2");
  state.supply["v100"].min = 1;
  BOOST_TEST(text(state) == "v100:1 | p100:1,v100:1 | p100:2,v100:1 | p100:2");
}

BOOST_AUTO_TEST_CASE(held_types_without_supply_are_left_out) {
  DecisionState state = fixtures::two_type_state();
  state.held["t4"] = 3;
  BOOST_TEST(to_list(present_set(state)) == "p100:2");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
