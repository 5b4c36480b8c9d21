#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>

#include "allocator/error.h"
#include "allocator/objective.h"

namespace jabas {
namespace {

CandidateResult result(const std::string& name, double rest_s, double rest_cost) {
  CandidateResult r;
  r.gpus = {{name, 1}};
  r.rest_s = rest_s;
  r.rest_cost = rest_cost;
  return r;
}

std::string order(std::vector<CandidateResult> results, const std::string& objective) {
  rank(&results, parse_objective(objective));
  std::string names;
  for (const CandidateResult& r : results) names += r.gpus.begin()->first;
  for (std::size_t i = 1; i < results.size(); ++i)
    BOOST_TEST(results[i - 1].score <= results[i].score);
  return names;
}

const auto kExact = boost::test_tools::tolerance(1e-12);

std::string complaint(const std::string& text) {
  try {
    parse_objective(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(objective_tests)

BOOST_AUTO_TEST_CASE(texts_are_read_and_written) {
  for (const char* text : {"time:0.1", "cost", "balanced:0.3", "value:4", "value:0", "balanced:0",
                           "deadline:90s", "deadline:5400s", "budget:12.5", "paper"})
    BOOST_TEST(to_text(parse_objective(text)) == text);
  BOOST_TEST(to_text(parse_objective("time")) == "time:0.05");
  BOOST_TEST(to_text(parse_objective("balanced")) == "balanced:0.5");
  BOOST_TEST(parse_objective("deadline:1.5h").deadline_s == 5400);
  BOOST_TEST(parse_objective("deadline:90").deadline_s == 5400);  // minutes, as sbatch has it
  BOOST_TEST(parse_objective("deadline:1-02:03:04").deadline_s == 93784);
}

BOOST_AUTO_TEST_CASE(bad_texts_are_named) {
  BOOST_TEST(
      complaint("fast") ==
      "objective 'fast' is not accepted: must be time[:EPS], cost, balanced[:ALPHA], value:V, "
      "deadline:T, budget:X or paper");
  BOOST_TEST(complaint("balanced:1") ==
             "objective 'balanced:1' is not accepted: ALPHA of balanced:ALPHA must be below 1; use "
             "time to minimise time alone");
  BOOST_TEST(complaint("balanced:-0.1") ==
             "objective 'balanced:-0.1' is not accepted: ALPHA of balanced:ALPHA must be a number "
             "of at least 0 and below 1");
  BOOST_TEST(complaint("time:x") ==
             "objective 'time:x' is not accepted: EPS of time:EPS must be a number, 0..10");
  BOOST_TEST(complaint("deadline:soon") ==
             "objective 'deadline:soon' is not accepted: T of deadline:T must be a duration above "
             "0, such as 8h, 90m, 600s or 1-12:00");
  BOOST_TEST(complaint("budget:0") ==
             "objective 'budget:0' is not accepted: X of budget:X must be a number above 0");
  BOOST_TEST(complaint("cost:1") == "objective 'cost:1' is not accepted: cost takes no value");
  for (const char* text :
       {"",         "time:",     "time:-1",    "time:nan",     "value",      "value:",
        "value:-1", "value:inf", "value:1x",   "balanced:",    "Time",       "time:0.1:2",
        "deadline", "deadline:", "deadline:0", "deadline:-5m", "deadline:x", "deadline:1d",
        "budget",   "budget:0",  "budget:-1",  "budget:nan",   "paper:1"})
    BOOST_TEST(complaint(text).starts_with("objective '"), text);
}

BOOST_AUTO_TEST_CASE(each_objective_ranks_by_its_own_measure) {
  const std::vector<CandidateResult> results = {result("f", 100, 8), result("g", 104, 4),
                                                result("m", 200, 3), result("c", 900, 1)};
  BOOST_TEST(order(results, "time:0") == "fgmc");
  BOOST_TEST(order(results, "time") == "gfmc");  // g is within 5 % and cheaper
  BOOST_TEST(order(results, "cost") == "cmgf");
  BOOST_TEST(order(results, "value:0") == "cmgf");
  BOOST_TEST(order(results, "value:1000000") == "fgmc");
  // √(R·C): f 28.3, g 20.4, m 24.5, c 30
  BOOST_TEST(order(results, "balanced") == "gmfc");
  BOOST_TEST(order(results, "balanced:0") == "cmgf");
  BOOST_TEST(order(results, "balanced:0.999") == "fgmc");
}

BOOST_AUTO_TEST_CASE(limits_come_first) {
  const std::vector<CandidateResult> results = {result("f", 100, 8), result("g", 104, 4),
                                                result("m", 200, 3), result("c", 900, 1)};
  BOOST_TEST(order(results, "deadline:104s") == "gfmc");
  BOOST_TEST(order(results, "deadline:500s") == "mgfc");
  BOOST_TEST(order(results, "deadline:99s") == "fgmc");  // none is in time: the fastest
  BOOST_TEST(order(results, "budget:4") == "gmcf");
  BOOST_TEST(order(results, "budget:100") == "fgmc");
  BOOST_TEST(order(results, "budget:0.5") == "cmgf");  // none is cheap enough: the cheapest
  std::vector<CandidateResult> epochs = results;
  for (CandidateResult& r : epochs) r.next_epoch_s = 1 / r.rest_s;
  BOOST_TEST(order(epochs, "paper") == "cmgf");
  const Objective rest = for_the_rest(parse_objective("deadline:10m"), 500, 3);
  BOOST_TEST(rest.deadline_s == 100);
  BOOST_TEST(keeps_limit(results[0], rest));
  BOOST_TEST(!keeps_limit(results[1], rest));
}

BOOST_AUTO_TEST_CASE(ties_go_to_the_faster_then_the_cheaper) {
  BOOST_TEST(order({result("a", 20, 0), result("b", 10, 0)}, "cost") == "ba");
  BOOST_TEST(order({result("a", 20, 1), result("b", 10, 2)}, "balanced") == "ba");
  BOOST_TEST(order({result("b", 10, 2), result("a", 10, 2)}, "time") == "ab");
}

// The best of `balanced` minimises C + V·R with V = α/(1−α)·C/R of itself: no start of the fixed
// point can end lower.
BOOST_AUTO_TEST_CASE(balanced_is_the_best_fixed_point_of_value) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<> uniform(0.01, 1);
  for (int round = 0; round < 200; ++round) {
    std::vector<CandidateResult> results;
    for (int i = 0; i < 20; ++i)
      results.push_back(result("t" + std::to_string(i), uniform(random), uniform(random)));
    const double alpha = uniform(random) * 0.98;
    Objective balanced{.kind = Objective::Kind::kBalanced, .alpha = alpha};
    rank(&results, balanced);
    const GpuCounts best = results.front().gpus;
    const double least = results.front().score;
    Objective value{.kind = Objective::Kind::kValue};
    value.value_per_h =
        alpha / (1 - alpha) * results.front().rest_cost / results.front().rest_s * 3600;
    rank(&results, value);
    BOOST_TEST_REQUIRE(to_list(results.front().gpus) == to_list(best), "seed " << seed);
    for (const CandidateResult& start :
         std::vector<CandidateResult>(results)) {  // the fixed point from every start
      CandidateResult at = start;
      for (int i = 0; i < 50; ++i) {
        value.value_per_h = alpha / (1 - alpha) * at.rest_cost / at.rest_s * 3600;
        rank(&results, value);
        at = results.front();
      }
      BOOST_TEST_REQUIRE(
          std::pow(at.rest_s, alpha) * std::pow(at.rest_cost, 1 - alpha) >= least * (1 - 1e-12),
          "seed " << seed);
    }
  }
}

BOOST_AUTO_TEST_CASE(gain_is_measured_as_the_objective_counts) {
  std::vector<CandidateResult> results = {result("a", 100, 8), result("b", 80, 9)};
  rank(&results, parse_objective("time"));
  BOOST_TEST(gain_of_change(result("a", 100, 8), result("b", 80, 9), parse_objective("time")) ==
             0.2);
  BOOST_TEST(gain_of_change(result("a", 100, 8), result("b", 102, 4), parse_objective("time")) ==
             0.5);
  rank(&results, parse_objective("cost"));
  BOOST_TEST(gain_of_change(results[1], results[0], parse_objective("cost")) == 1.0 / 9,
             boost::test_tools::tolerance(1e-12));
  const Objective deadline = parse_objective("deadline:90s"),
                  budget = parse_objective("budget:8.5");
  const CandidateResult a = result("a", 100, 8), b = result("b", 80, 9), c = result("c", 95, 4);
  BOOST_TEST(gain_of_change(a, b, deadline) == 1);             // late, in time
  BOOST_TEST(gain_of_change(a, c, deadline) == 0.05, kExact);  // both late: time
  BOOST_TEST(gain_of_change(b, result("d", 90, 6), deadline) == 1.0 / 3, kExact);  // money
  BOOST_TEST(gain_of_change(b, a, budget) == 1);
  BOOST_TEST(gain_of_change(a, c, budget) == 0.05, kExact);
  BOOST_TEST(gain_of_change(result("e", 1, 12), b, budget) == 0.25, kExact);
  CandidateResult quick = a;
  quick.next_epoch_s = 6;
  CandidateResult slow = a;
  slow.next_epoch_s = 8;
  BOOST_TEST(gain_of_change(slow, quick, parse_objective("paper")) == 0.25);
  // Nothing costs anything: time decides.
  BOOST_TEST(gain_of_change(result("a", 100, 0), result("b", 50, 0), parse_objective("balanced")) ==
             0.5);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
