#include <boost/test/unit_test.hpp>

#include "allocator/decision_reason.h"

namespace jabas {
namespace {

CandidateResult result(const GpuCounts& gpus, double rest_s, double rest_cost) {
  CandidateResult r;
  r.gpus = gpus;
  r.rest_s = rest_s;
  r.rest_cost = rest_cost;
  return r;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(decision_reason_tests)

BOOST_AUTO_TEST_CASE(numbers_are_short) {
  BOOST_TEST(seconds_text(8.26) == "8.3 s");
  BOOST_TEST(seconds_text(9.96) == "10 s");
  BOOST_TEST(seconds_text(61.4) == "61 s");
  BOOST_TEST(seconds_text(850) == "14.2 min");
  BOOST_TEST(seconds_text(11'520) == "3.2 h");
  BOOST_TEST(cost_text(1.253) == "$1.25");
  BOOST_TEST(cost_text(0.0512) == "$0.0512");
  BOOST_TEST(cost_text(0.5) == "$0.500");
  BOOST_TEST(cost_text(0.000123) == "$0.000123");
  BOOST_TEST(cost_text(0) == "$0.00");
}

BOOST_AUTO_TEST_CASE(each_reason_names_sets_numbers_and_objective) {
  const CandidateResult fast = result({{"v100", 2}}, 61, 0.0512),
                        slow = result({{"p100", 2}}, 118, 0.0604);
  const Objective balanced = parse_objective("balanced");
  BOOST_TEST(reason_for_change(Decision::Action::kSwap, fast, slow, balanced) ==
             "swap: 2×v100 finishes the rest in 61 s for $0.0512 against 118 s and $0.0604 with "
             "2×p100 (balanced 0.5)");
  BOOST_TEST(reason_for_start(fast, &slow, balanced) ==
             "start: 2×v100 finishes the run in 61 s for $0.0512 against 118 s and $0.0604 with "
             "the next best, 2×p100 "
             "(balanced 0.5)");
  BOOST_TEST(reason_for_start(fast, nullptr, balanced) ==
             "start: 2×v100 finishes the run in 61 s for $0.0512 (balanced 0.5)");
  BOOST_TEST(reason_for_keep(fast, &slow, parse_objective("cost")) ==
             "keep: 2×v100 finishes the rest in 61 s for $0.0512 against 118 s and $0.0604 with "
             "the next best, 2×p100 (cost)");
  BOOST_TEST(reason_for_keep(fast, nullptr, balanced) ==
             "keep: 2×v100 finishes the rest in 61 s for $0.0512 and is the only possible set "
             "(balanced 0.5)");
  BOOST_TEST(reason_for_small_gain(slow, fast, 0.031, 0.05, balanced) ==
             "keep: 2×v100 would finish the rest in 61 s for $0.0512 against 118 s and $0.0604 "
             "with 2×p100, a gain of "
             "3.1 % where a change needs 5 % (balanced 0.5)");
  BOOST_TEST(reason_for_interval(slow, fast, 1, 3, balanced) ==
             "keep: 2×v100 would finish the rest in 61 s for $0.0512 against 118 s and $0.0604 "
             "with 2×p100, but the last "
             "change was 1 epoch ago and changes are at least 3 epochs apart (balanced 0.5)");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
