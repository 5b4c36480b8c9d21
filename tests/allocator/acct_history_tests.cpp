#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

#include "allocator/acct_history.h"
#include "allocator/error.h"
#include "allocator/journal.h"
#include "tests/support/temp_dir.h"

using namespace jabas;
using namespace jabas::acct;

namespace {

JobHistory golden() {
  const char* source = std::getenv("JABAS_SOURCE_DIR");
  BOOST_REQUIRE_MESSAGE(source != nullptr, "run by ctest, or set JABAS_SOURCE_DIR");
  return read_history(std::string(source) + "/tests/data/journal-v1.jsonl", "path", "0");
}

struct Written {
  TempDir dir;
  std::string path = dir / "journal.jsonl";

  JobHistory read() { return read_history(path, "c", "7"); }
  void add(const std::string& type, const std::string& fields, int run = 1, int restart = 0) {
    JournalWriter writer(path, restart);
    writer.set_run(run);
    writer.append(++time_s, type, fields);
  }
  std::string error() {
    try {
      read();
    } catch (const InputError& caught) {
      return caught.what();
    }
    return "no error";
  }
  double time_s = 1000;
};

const char kKeep[] = R"({"epoch":2,"action":"keep","reason":"keep: why not","notes":["one"]})";
const char kEpochTwo[] = R"({"epoch":2,"generation":1,"duration_s":10,"loss":null,"cost_usd":-1})";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(acct_history_tests, Written)

BOOST_AUTO_TEST_CASE(the_golden_journal_is_put_together) {
  const JobHistory job = golden();
  BOOST_TEST(job.cluster == "mini");
  BOOST_TEST(job.job_id == "123");
  BOOST_TEST(!job.running);
  BOOST_TEST(!job.torn_tail);
  BOOST_REQUIRE(job.decisions.size() == 4u);
  const DecisionEntry& grow = job.decisions[1];
  BOOST_TEST(grow.key.user == "ada");
  BOOST_TEST(grow.epochs == 4);
  BOOST_TEST((grow.decision.action == Decision::Action::kGrow));
  BOOST_TEST((grow.decision.after == GpuCounts{{"p100", 2}, {"v100", 2}}));
  BOOST_TEST(grow.decision.best.size() == 3u);
  BOOST_TEST(grow.decision.best[1].batch_clamped);
  BOOST_TEST(grow.decision.chosen.configuration.shares[2].streams == 3);
  BOOST_TEST(grow.decision.rejected.at("memory") == 1);
  BOOST_TEST(grow.result->duration_s == 43);
  BOOST_TEST(grow.switched->pause_s == 0.312);
  BOOST_TEST(grow.switched->generation == 3);
  BOOST_TEST(!job.decisions[2].switched.has_value());
  BOOST_TEST(job.decisions[3].run_state == "completed");
  BOOST_REQUIRE(job.members.size() == 4u);
  BOOST_TEST(job.members[0].member_job_id == "124");
  BOOST_TEST(job.members[0].state == "ended");
  BOOST_TEST(job.members[0].end_s == 1764590686);
  BOOST_TEST(job.members[3].state == "refused");
  BOOST_TEST(job.batches.size() == 2u);
  BOOST_REQUIRE(job.runs.size() == 1u);
  BOOST_TEST(job.runs[0].cost_usd == 0.3542);
  BOOST_TEST(job.runs[0].epochs_done == 4);
}

BOOST_AUTO_TEST_CASE(a_journal_in_progress_has_no_results_yet) {
  add(record::kTrain, R"({"epochs":5,"device":"emulated"})");
  add(record::kDecision, kKeep);
  add(record::kRequest, R"({"request":1,"gpu_type":"v100","gpus":2})");
  std::ofstream(path, std::ios::app) << R"({"v":1,"type":"epo)";
  const JobHistory job = read();
  BOOST_TEST(job.running);
  BOOST_TEST(job.torn_tail);
  BOOST_REQUIRE(job.decisions.size() == 1u);
  BOOST_TEST(!job.decisions[0].result.has_value());
  BOOST_TEST(job.decisions[0].emulated);
  BOOST_TEST(job.decisions[0].run_state == "running");
  BOOST_TEST(job.decisions[0].notes.at(0) == "one");
  BOOST_TEST(job.members.at(0).state == "requested");
  BOOST_TEST(job.members.at(0).gpus == 2);
}

BOOST_AUTO_TEST_CASE(runs_and_restarts_are_kept_apart) {
  add(record::kTrain, R"({"epochs":3})");
  add(record::kDecision, kKeep);
  add(record::kJob, R"({"user":"ada"})", 1, 1);  // requeued inside epoch 2
  add(record::kTrain, R"({"epochs":3})", 1, 1);
  add(record::kDecision, kKeep, 1, 1);
  add(record::kEpoch, kEpochTwo, 1, 1);
  add(record::kEnd, R"({"state":"failed","epochs":2})", 1, 1);
  const JobHistory job = read();
  BOOST_REQUIRE(job.decisions.size() == 2u);
  BOOST_TEST(job.decisions[0].run_state == "lost");
  BOOST_TEST(!job.decisions[0].result.has_value());
  BOOST_TEST(job.decisions[1].run_state == "failed");
  BOOST_TEST(job.decisions[1].result->duration_s == 10);
  BOOST_TEST(job.decisions[1].result->cost_usd == -1);
  BOOST_REQUIRE(job.runs.size() == 2u);
  BOOST_TEST(job.runs[0].state == "lost");
  BOOST_TEST(!job.running);
}

BOOST_AUTO_TEST_CASE(the_boundary_switch_counts_not_a_recovery_in_the_same_epoch) {
  add(record::kDecision, kKeep);
  add(record::kSwitched, R"({"generation":4,"attempt":1,"epoch":2,"pause_s":0.5})");
  add(record::kSwitched, R"({"generation":5,"attempt":2,"epoch":2,"pause_s":7})");
  BOOST_TEST(read().decisions.at(0).switched->generation == 4);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_named) {
  add(record::kDecision, R"({"action":"keep"})");
  BOOST_TEST(error() == path + ": line 1: key \"epoch\" is missing");
  std::ofstream(path, std::ios::trunc);
  add("of_a_later_version", R"({"anything":[1]})");
  add(record::kDecision, R"({"epoch":2,"action":"dance"})");
  BOOST_TEST(error() == path +
                            ": line 2: key \"action\": found \"dance\", accepted is start, keep, "
                            "grow, shrink or swap");
  std::ofstream(path, std::ios::trunc);
  add(record::kEpoch, R"({"epoch":2,"duration_s":"long"})");
  BOOST_TEST(error() ==
             path + ": line 1: key \"duration_s\": found \"long\", accepted is a number");
  std::ofstream(path, std::ios::trunc);
  add(record::kDecision,
      R"({"epoch":1,"action":"keep","chosen":{"configuration":{"shares":[[1]]}}})");
  BOOST_TEST(error() ==
             path +
                 ": line 1: chosen: configuration: key \"shares\": found [[1]], accepted "
                 "is pairs [streams, accumulation steps]");
}

BOOST_AUTO_TEST_SUITE_END()
