#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string>

#include "allocator/acct_why.h"

using namespace jabas;
using namespace jabas::acct;

namespace {

struct Golden {
  Golden() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    const char* source = std::getenv("JABAS_SOURCE_DIR");
    BOOST_REQUIRE_MESSAGE(source != nullptr, "run by ctest, or set JABAS_SOURCE_DIR");
    job = read_history(std::string(source) + "/tests/data/journal-v1.jsonl", "", "");
  }
  std::string why(std::size_t index) {
    std::ostringstream out;
    print_why(out, job.decisions.at(index), "");
    return out.str();
  }
  JobHistory job;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(acct_why_tests, Golden)

BOOST_AUTO_TEST_CASE(a_decision_is_explained) {
  BOOST_TEST(why(1) ==
             R"(Job 123 (mini), run 1, restart 0: epoch 2 of 4, decided 2025-12-01T12:01:46
p100:2 → p100:2,v100:2
grow: 2×p100 + 2×v100 finishes the rest in 124 s for $0.311 against 234 s and $0.190 with 2×p100 (balanced 0.5)

  Objective    balanced:0.5
  Batch        wanted 421.0, forecast 433.5 (last value)
  Planned      416 = 52 x 8 virtual workers, a step in 0.26 s
  Workers/GPU  1 1 3 3
  GPUs free    p100:1,v100:2
  Prices       p100=1.46,v100=3.06 $/GPU-hour, from prices.json
  Epoch        predicted 41.0 s, took 43.0 s (4.9 % longer), pause 0.31 s, cost $0.1080

Candidate      Epoch    Rest    Cost GBS  Score                      Verdict                                                        
------------- ------ ------- ------- --- ------ -------------------- -------------------------------------------------------------- 
p100:2,v100:2 41.0 s 124.0 s $0.3113 416 0.6200 ██████████▌          chosen                                                         
p100:1,v100:2 47.0 s 142.0 s $0.2990 416 0.6500 ████████████         14.5 % slower, 4.0 % cheaper, batch clamped; score 4.8 % worse 
p100:2        78.0 s 234.0 s $0.1898 416 0.7000 ████████████████████ present, 88.7 % slower, 39.0 % cheaper; score 12.9 % worse     

Epoch: seconds of the next epoch; Rest and Cost: of all epochs left, with the change.
Rejected: 1 memory; 4 more than is free
Search: exhaustive: 12 of 12 candidates
Note: v100 is scaled from p100 by TFLOP/s
)");
}

BOOST_AUTO_TEST_CASE(verdicts_compare_with_the_chosen_one) {
  const Decision& keep = job.decisions.at(2).decision;
  BOOST_TEST(why_lost(keep.best[0], keep) ==
             "2.4 % faster, 0.8 % dearer; score 1.0 % better, but see the reason");
  BOOST_TEST(why_lost(keep.best[1], keep) == "");
  CandidateResult twin = keep.chosen;
  twin.gpus = {{"a100", 1}};
  BOOST_TEST(why_lost(twin, keep) == "equal; ties keep the order");
}

BOOST_AUTO_TEST_CASE(a_decision_without_prediction_or_result_leaves_blanks) {
  DecisionEntry entry;
  entry.key = {"c", "7", "ada", 1, 0};
  entry.time_s = 1764590400;
  entry.epoch = 1;
  entry.decision.after = entry.decision.chosen.gpus = {{"v100", 1}};
  entry.decision.reason = "start: 1×v100 without a prediction";
  entry.run_state = "running";
  entry.emulated = true;
  std::ostringstream out;
  print_why(out, entry, "");
  BOOST_TEST(out.str() ==
             R"(Job 7 (c), run 1, restart 0: epoch 1, decided 2025-12-01T12:00:00
none → v100:1
start: 1×v100 without a prediction

  Batch        wanted 0.0, forecast 0.0
  GPUs free    none
  Prices       none
  Epoch        not predicted; not over yet

Candidate Epoch Rest Cost GBS Score   Verdict 
--------- ----- ---- ---- --- ----- - ------- 
v100:1                                chosen  

Epoch: seconds of the next epoch; Rest and Cost: of all epochs left, with the change.
The GPUs of this run are emulated: times and costs are not of real GPUs.
)");
}

BOOST_AUTO_TEST_SUITE_END()
