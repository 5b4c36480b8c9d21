// The command-line client against a real Slurm; started by tests/slurm/slurm_client.sh, which
// brings a cluster up.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "spank_plugin/jabasd/gpu_supply.h"
#include "spank_plugin/jabasd/member_submission.h"
#include "spank_plugin/jabasd/slurm_cli_client.h"
#include "spank_plugin/jabasd/subprocess.h"
#include "tests/support/temp_dir.h"

using namespace jabas;
using namespace std::chrono_literals;

namespace {

struct Fixture {
  Fixture() {
    std::filesystem::create_directory(dir / "members");
    run.job_name = member_job_name(4711, 0);
    run.lead = "4711.0";
    run.run_dir = dir.path();
    run.working_directory = dir.path();
    run.executable = "/bin/sleep";  // "sleep join --workers 1" ends at once: those that are to live
                                    // get a real script
    run.environment = process_environment();
  }
  SubmitOutcome submit(int request, const std::string& script,
                       std::vector<std::string> extra = {}) {
    MemberNeed need;
    need.request = request;
    need.gpu_type = "v100";
    need.time_left_s = 600;
    need.extra = std::move(extra);
    MemberSubmission submission = member_submission(run, need);
    submission.script = "#!/bin/sh\n" + script + "\n";
    return client.submit(submission);
  }
  JobRow until(long job_id, const std::function<bool(const JobRow&)>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    for (;;) {
      const auto answer = client.jobs_named(run.job_name);
      BOOST_REQUIRE_MESSAGE(answer.value, answer.problem);
      for (const JobRow& row : *answer.value) {
        if (row.job_id == job_id && condition(row)) return row;
      }
      BOOST_REQUIRE(std::chrono::steady_clock::now() < deadline);
      std::this_thread::sleep_for(100ms);
    }
  }
  TempDir dir;
  MemberTemplate run;
  SlurmCliClient client{process_environment()};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(slurm_cli_client_checks, Fixture)

BOOST_AUTO_TEST_CASE(a_member_is_submitted_listed_counted_and_cancelled) {
  const auto before = client.nodes();
  BOOST_REQUIRE_MESSAGE(before.value, before.problem);
  const int free = free_gpus(*before.value, "v100", 1);
  BOOST_TEST(free > 0);
  const SubmitOutcome outcome = submit(3, "exec sleep 300");
  BOOST_REQUIRE_MESSAGE(outcome.kind == SubmitOutcome::Kind::kSubmitted, outcome.reason);
  const JobRow row =
      until(outcome.job_id, [](const JobRow& one) { return one.state == "RUNNING"; });
  BOOST_TEST(row.comment == "jabas:3:v100");
  BOOST_TEST(row.name == "jabas-4711.0");
  BOOST_TEST(!row.node.empty());
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  BOOST_TEST(row.start_s > now - 60);  // the time zone is right
  BOOST_TEST(row.start_s < now + 60);
  BOOST_TEST(row.end_s > now + 300);  // its limit, ten minutes
  BOOST_TEST(free_gpus(*client.nodes().value, "v100", 1) == free - 1);
  const Answer<LeadInfo> as_lead = client.lead(outcome.job_id);
  BOOST_REQUIRE_MESSAGE(as_lead.value, as_lead.problem);
  BOOST_TEST((as_lead.value->gpus == GpuCounts{{"v100", 1}}));
  BOOST_TEST(as_lead.value->end_s > now + 300);
  BOOST_TEST(client.cancel_named(run.job_name) == "");
  until(outcome.job_id, [](const JobRow& one) { return one.state == "CANCELLED"; });
  BOOST_TEST(client.cancel_job(outcome.job_id) == "");  // gone already is done
}

BOOST_AUTO_TEST_CASE(a_member_sees_its_own_job_and_nothing_of_the_lead) {
  const SubmitOutcome outcome = submit(4, "env > " + dir.path() + "/environment");
  BOOST_REQUIRE_MESSAGE(outcome.kind == SubmitOutcome::Kind::kSubmitted, outcome.reason);
  until(outcome.job_id, [](const JobRow& one) { return one.state == "COMPLETED"; });
  const ProcessResult environment = run_process({"cat", dir.path() + "/environment"}, {}, "", 5s);
  BOOST_TEST(environment.out.find("JABAS_MEMBER=4711.0\n") != std::string::npos);
  BOOST_TEST(environment.out.find("JABAS_REQUEST=4\n") != std::string::npos);
  BOOST_TEST(environment.out.find("SLURM_JOB_ID=" + std::to_string(outcome.job_id)) !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_refusal_is_an_answer_with_slurms_words) {
  const SubmitOutcome outcome = submit(5, "true", {"--partition=nowhere"});
  BOOST_TEST((outcome.kind == SubmitOutcome::Kind::kRefused));
  BOOST_TEST(outcome.reason ==
             "sbatch: exit code 1: sbatch: error: invalid partition specified: nowhere");
}

BOOST_AUTO_TEST_CASE(a_controller_that_does_not_answer_is_no_answer) {
  std::map<std::string, std::string> environment = process_environment();
  environment["SLURM_CONF"] = dir.path() + "/none.conf";
  SlurmCliClient lost(environment, 2s, 2s);
  BOOST_TEST(!lost.jobs_named("x").value);
  BOOST_TEST(!lost.nodes().value);
  BOOST_TEST(!lost.lead(1).value);
  BOOST_TEST(lost.cancel_named("x") != "");
}

BOOST_AUTO_TEST_CASE(the_controller_has_an_address) {
  const Answer<std::string> answer = client.controller();
  BOOST_REQUIRE_MESSAGE(answer.value, answer.problem);
  BOOST_TEST(*answer.value == "127.0.0.1");
}

BOOST_AUTO_TEST_SUITE_END()
