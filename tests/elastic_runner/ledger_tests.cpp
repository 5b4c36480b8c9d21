#include <boost/test/unit_test.hpp>
#include <fstream>

#include "allocator/error.h"
#include "elastic_runner/ledger.h"
#include "elastic_runner/ledger_check.h"
#include "tests/support/temp_dir.h"

using namespace jabas;

namespace {

using Samples = std::vector<std::int64_t>;

void step(Ledger& ledger, int generation, int epoch, std::int64_t number, const Samples& samples,
          bool commit = true) {
  ledger.begin_step(generation, epoch, number);
  ledger.record_read(0, samples);
  if (commit) ledger.commit();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ledger_tests)

BOOST_AUTO_TEST_CASE(two_workers_that_read_everything_once_pass) {
  const TempDir dir;
  Ledger a(dir.path(), "1.0", 6), b(dir.path(), "1.1", 6);
  for (int epoch : {1, 2}) {
    step(a, 1, epoch, 2 * epoch - 1, {0, 3});
    step(b, 1, epoch, 2 * epoch - 1, {1});
    step(a, 1, epoch, 2 * epoch, {2, 5}, false);  // one mark per step is enough
    step(b, 1, epoch, 2 * epoch, {4});
  }
  const LedgerReport report = check_ledger(dir.path());
  BOOST_TEST(report.problems.empty());
  BOOST_TEST(report.summary == "2 ledgers, epochs 1..2, 6 samples each: every sample exactly once");
}

BOOST_AUTO_TEST_CASE(planted_skip_and_planted_double_are_found) {
  const TempDir dir;
  Ledger a(dir.path(), "1.0", 6), b(dir.path(), "1.1", 6);
  step(a, 1, 1, 1, {0, 1, 2});
  step(b, 1, 1, 1, {2, 5, 7});
  const LedgerReport report = check_ledger(dir.path());
  const std::vector<std::string> expected = {
      "epoch 1: sample 7: not in the training set of 6: ledger-1.1.jsonl:2 (step 1, generation 1)",
      "epoch 1: sample 2: read 2 times: ledger-1.0.jsonl:2 (step 1, generation 1), "
      "ledger-1.1.jsonl:2 (step 1, "
      "generation 1)",
      "epoch 1: sample 3: missing", "epoch 1: sample 4: missing"};
  BOOST_TEST(report.problems == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(reads_of_a_step_that_was_never_committed_do_not_count) {
  const TempDir dir;
  Ledger a(dir.path(), "1.0", 4);
  step(a, 1, 1, 1, {0, 1});
  step(a, 1, 1, 2, {2, 3}, false);
  BOOST_TEST(check_ledger(dir.path()).problems.size() == 2U);
  step(a, 2, 1, 2, {2, 3});
  BOOST_TEST(check_ledger(dir.path()).problems.empty());
}

// A rank committed step 2 and died with it; the survivors did it again in generation 2.
BOOST_AUTO_TEST_CASE(a_step_committed_only_by_the_dead_is_superseded) {
  const TempDir dir;
  Ledger dead(dir.path(), "1.0", 4), alive(dir.path(), "1.1", 4);
  step(dead, 1, 1, 1, {0});
  step(alive, 1, 1, 1, {1});
  step(dead, 1, 1, 2, {2});
  step(alive, 1, 1, 2, {3}, false);
  step(alive, 2, 1, 2, {2, 3});
  BOOST_TEST(check_ledger(dir.path()).problems.empty());
}

// Resumed from the checkpoint after step 1 with a smaller batch: the repeated epoch has more steps
// than before.
BOOST_AUTO_TEST_CASE(a_resumed_run_takes_back_all_that_followed_its_checkpoint) {
  const TempDir dir;
  {
    Ledger first(dir.path(), "local.0", 4);
    step(first, 1, 1, 1, {0, 1, 2, 3});
    step(first, 1, 2, 2, {0});
    step(first, 1, 2, 3, {1});
    step(first, 1, 2, 4, {2});
  }
  Ledger second(dir.path(), "local.0", 4);
  step(second, 2, 2, 2, {3, 2});
  step(second, 2, 2, 3, {1, 0});
  BOOST_TEST(check_ledger(dir.path()).problems.empty());
  BOOST_TEST(last_ledger_generation(dir.path()) == 2);
}

BOOST_AUTO_TEST_CASE(a_line_cut_by_a_kill_is_tolerated_anything_else_is_named) {
  const TempDir dir;
  {
    Ledger a(dir.path(), "1.0", 2);
    step(a, 1, 1, 1, {0, 1});
  }
  const std::string path = dir.path() + "/ledger-1.0.jsonl";
  std::ofstream(path, std::ios::app) << R"({"read":2,"epo)";
  BOOST_TEST(check_ledger(dir.path()).problems.empty());
  { Ledger again(dir.path(), "1.0", 2); }
  BOOST_TEST(check_ledger(dir.path()).problems.empty());
  std::ofstream(path, std::ios::app) << "garbage\n{\"committed\":9,\"epoch\":1,\"generation\":1}\n";
  BOOST_CHECK_EXCEPTION(check_ledger(dir.path()), InputError, [](const InputError& error) {
    return std::string(error.what()) == "ledger-1.0.jsonl:6: not a ledger record: not JSON";
  });
}

BOOST_AUTO_TEST_CASE(other_version_other_run_and_no_ledger_are_errors) {
  const TempDir dir;
  BOOST_CHECK_THROW(check_ledger(dir.path()), InputError);
  BOOST_CHECK_THROW(check_ledger(dir.path() + "/none"), IoError);
  { Ledger a(dir.path(), "1.0", 2), b(dir.path(), "1.1", 3); }
  BOOST_CHECK_EXCEPTION(check_ledger(dir.path()), InputError, [](const InputError& error) {
    return std::string(error.what()) ==
           "ledger-1.1.jsonl:1: train_samples 3, but another worker had 2: not one run";
  });
  const TempDir other;
  std::ofstream(other.path() + "/ledger-x.jsonl")
      << R"({"ledger":2,"worker":"x","train_samples":1})"
      << "\n";
  BOOST_CHECK_EXCEPTION(check_ledger(other.path()), InputError, [](const InputError& error) {
    return std::string(error.what()) == "ledger-x.jsonl:1: ledger version 2: accepted is 1";
  });
}

BOOST_AUTO_TEST_SUITE_END()
