#include <boost/test/unit_test.hpp>

#include "allocator/error.h"
#include "spank_plugin/jabasd/replay.h"

using namespace jabas;

namespace {

std::string record(const std::string& type, const std::string& fields, int run = 1,
                   int restart = 0) {
  return "{\"v\":1,\"type\":\"" + type + "\",\"time\":1000,\"run\":" + std::to_string(run) +
         ",\"restart\":" + std::to_string(restart) + (fields.empty() ? "" : ",") + fields + "}";
}

std::string prepare(int generation, int attempt, const std::string& workers, bool first) {
  std::string members;
  for (const char worker : workers) {
    members += std::string(members.empty() ? "" : ",") + "{\"worker_id\":\"10" + worker +
               ".0\",\"gpu_type\":\"v100\",\"host\":\"n1\"}";
  }
  return record("prepare", "\"generation\":" + std::to_string(generation) +
                               ",\"attempt\":" + std::to_string(attempt) + ",\"members\":[" +
                               members + "],\"first\":" + (first ? "true" : "false"));
}

std::string pair(int generation, int attempt) {
  return "\"generation\":" + std::to_string(generation) + ",\"attempt\":" + std::to_string(attempt);
}

std::string member(int request, const std::string& state) {
  return record("member",
                "\"request\":" + std::to_string(request) +
                    ",\"job_id\":" + std::to_string(100 + request) +
                    ",\"gpu_type\":\"v100\",\"gpus\":1,\"node\":\"n1\",\"state\":\"" + state +
                    "\",\"reason\":\"\",\"submit_time\":1,\"start_time\":2,\"end_time\":0");
}

std::vector<std::string> history() {
  return {record("job", "\"port\":4321", 0),
          record("train", "\"arguments\":[\"--epochs\",\"3\"]"),
          record("decision", "\"epoch\":1,\"after\":{\"v100\":2}"),
          record("request", "\"request\":1,\"gpu_type\":\"v100\",\"gpus\":1"),
          record("submitted", "\"request\":1,\"job_id\":101"),
          record("request", "\"request\":2,\"gpu_type\":\"v100\",\"gpus\":1"),
          record("submitted", "\"request\":2,\"job_id\":102"),
          member(1, "running"),
          member(1, "ready"),
          member(2, "running"),
          prepare(1, 1, "12", true),
          record("commit", pair(1, 1)),
          record("switched", pair(1, 1)),
          record("epoch", "\"epoch\":1"),
          record("decision", "\"epoch\":3,\"after\":{\"v100\":1}")};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(replay_tests)

BOOST_AUTO_TEST_CASE(nothing_is_known_of_an_empty_journal) {
  const Replay result = replay({}, 0);
  BOOST_TEST(!result.run_open);
  BOOST_TEST(result.port == 0);
}

BOOST_AUTO_TEST_CASE(an_open_run_is_found_as_it_was) {
  const Replay result = replay(history(), 0);
  BOOST_TEST(result.run_open);
  BOOST_TEST(result.last_run == 1);
  BOOST_TEST(result.port == 4321);
  BOOST_TEST((result.arguments == std::vector<std::string>{"--epochs", "3"}));
  BOOST_TEST(result.generation == 1);
  BOOST_TEST(result.training.size() == 2u);
  BOOST_TEST(result.training[1].worker_id == "102.0");
  BOOST_TEST(result.epoch == 2);
  BOOST_TEST(result.decided_epoch == 3);
  BOOST_TEST((result.wanted == GpuCounts{{"v100", 1}}));
  BOOST_TEST(result.last_request == 2);
  BOOST_TEST(result.members.size() == 2u);
  BOOST_TEST(result.members[0].ready_s == 1000.0);
  BOOST_TEST(result.members[1].ready_s == 0.0);
  BOOST_TEST(result.open_commit.empty());
}

BOOST_AUTO_TEST_CASE(a_commit_of_unknown_outcome_is_kept_and_a_mere_preparation_is_not) {
  std::vector<std::string> records = history();
  records.push_back(prepare(2, 1, "12", false));
  BOOST_TEST(replay(records, 0).open_commit.empty());
  BOOST_TEST(replay(records, 0).last_generation == 2);
  records.push_back(prepare(2, 2, "1", false));
  records.push_back(record("commit", pair(2, 2)));
  const Replay result = replay(records, 0);
  BOOST_TEST(result.open_commit.size() == 1u);
  BOOST_TEST(result.open_commit[0].attempt == 2);
  BOOST_TEST(result.open_commit[0].members.size() == 1u);
  BOOST_TEST(result.generation == 1);
  records.push_back(record("switch_failed", pair(2, 2) + ",\"reason\":\"x\""));
  BOOST_TEST(replay(records, 0).open_commit.empty());
}

// Written before the crash, perhaps submitted: squeue tells by the comment.
BOOST_AUTO_TEST_CASE(a_request_without_answer_is_unknown) {
  std::vector<std::string> records = history();
  records.push_back(record("request", "\"request\":3,\"gpu_type\":\"p100\",\"gpus\":2"));
  const Replay result = replay(records, 0);
  BOOST_TEST(result.members.size() == 3u);
  BOOST_TEST((result.members[2].state == MemberState::kUnknown));
  BOOST_TEST(result.members[2].gpus == 2);
}

BOOST_AUTO_TEST_CASE(members_that_ended_are_not_adopted) {
  std::vector<std::string> records = history();
  records.push_back(member(1, "ended"));
  records.push_back(member(2, "lost"));
  BOOST_TEST(replay(records, 0).members.empty());
}

BOOST_AUTO_TEST_CASE(an_ended_run_leaves_only_the_numbers) {
  std::vector<std::string> records = history();
  records.push_back(record("end", "\"state\":\"completed\""));
  const Replay result = replay(records, 0);
  BOOST_TEST(!result.run_open);
  BOOST_TEST(result.generation == 0);
  BOOST_TEST(result.last_request == 2);
  BOOST_TEST(result.last_generation == 1);
}

// After a requeue nothing of the older life is adopted, but numbers are never used twice.
BOOST_AUTO_TEST_CASE(an_older_restart_counts_only_for_the_numbers) {
  const Replay result = replay(history(), 1);
  BOOST_TEST(!result.run_open);
  BOOST_TEST(result.port == 0);
  BOOST_TEST(result.members.empty());
  BOOST_TEST(result.last_run == 1);
  BOOST_TEST(result.last_request == 2);
  BOOST_TEST(result.last_generation == 1);
}

// A crash can come after any record.
BOOST_AUTO_TEST_CASE(every_prefix_can_be_replayed) {
  const std::vector<std::string> records = history();
  for (std::size_t length = 0; length <= records.size(); ++length) {
    const Replay result = replay({records.begin(), records.begin() + std::ptrdiff_t(length)}, 0);
    BOOST_TEST(result.run_open == (length >= 2));
    BOOST_TEST(result.members.size() <= 2u);
  }
}

BOOST_AUTO_TEST_CASE(a_record_that_lacks_a_key_is_named) {
  BOOST_CHECK_EXCEPTION(
      replay({record("commit", "").replace(1, 0, ""), record("prepare", "\"generation\":1")}, 0),
      InputError, [](const InputError& error) {
        return std::string(error.what()).find("attempt") != std::string::npos;
      });
}

BOOST_AUTO_TEST_CASE(what_was_measured_of_the_open_run) {
  const std::string calibration = record(
      "calibration",
      R"("gpu_type":"v100","points":[{"local_batch":32,"streams":1,"data_s":0,"forward_s":0.1,"backward_s":0.2,"update_s":0.01}],"buckets":[{"bytes":1000,"all_reduce_s":0}],"duration_s":2)");
  const std::string correction =
      record("correction", R"("gpu_type":"v100","factor":1.25,"deviation":0.02,"reports":7)");
  auto records = history();
  records.insert(records.end(), {calibration, correction});
  Replay known = replay(records, 0);
  BOOST_TEST_REQUIRE(known.calibrations.size() == 1u);
  BOOST_TEST(known.calibrations[0].points[0].backward_s == 0.2);
  BOOST_TEST_REQUIRE(known.corrections.size() == 1u);
  BOOST_TEST(known.corrections[0].factor == 1.25);
  records.push_back(record("train", "\"arguments\":[]", 2));
  known = replay(records, 0);
  BOOST_TEST(known.calibrations.empty());
  BOOST_TEST(known.corrections.empty());
  BOOST_CHECK_THROW(replay({record("calibration", "\"gpu_type\":1")}, 0), InputError);
}

BOOST_AUTO_TEST_SUITE_END()
