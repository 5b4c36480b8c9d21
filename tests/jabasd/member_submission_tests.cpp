#include <boost/test/unit_test.hpp>

#include "spank_plugin/jabasd/member_submission.h"

using namespace jabas;

namespace {

MemberTemplate run_template() {
  MemberTemplate run;
  run.job_name = member_job_name(12, 1);
  run.lead = "12.1";
  run.run_dir = "/home/u/.jabas/c/12";
  run.endpoint = "tcp://10.0.0.1:4321";
  run.working_directory = "/home/u/my work";
  run.executable = "/opt/it's/jabas-run";
  run.environment = {{"PATH", "/bin"},
                     {"SLURM_JOB_ID", "12"},
                     {"SLURM_CONF", "/etc/slurm.conf"},
                     {"SBATCH_GRES", "gpu:9"},
                     {"CUDA_VISIBLE_DEVICES", "0"},
                     {"_SLURM_SPANK_OPTION_jabas_gpus", "x"},
                     {"SLURM_SPANK__SLURM_SPANK_OPTION_jabas_jabas_gpus", "x"},
                     {"PMIX_RANK", "0"},
                     {"HOME", "/home/u"}};
  return run;
}

MemberNeed need() {
  MemberNeed result;
  result.request = 3;
  result.gpu_type = "v100";
  result.gpus = 2;
  result.cpus = 6;
  result.memory = "2000M";
  result.time_left_s = 1859;
  return result;
}

std::string joined(const MemberSubmission& submission) {
  std::string text;
  for (const std::string& word : submission.arguments) text += word + "\n";
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(member_submission_tests)

BOOST_AUTO_TEST_CASE(arguments_are_exactly_these) {
  BOOST_TEST(joined(member_submission(run_template(), need())) ==
             "--parsable\n"
             "--job-name=jabas-12.1\n"
             "--comment=jabas:3:v100\n"
             "--gres=gpu:v100:2\n"
             "-N1\n"
             "-n1\n"
             "--no-requeue\n"
             "--cpus-per-task=6\n"
             "--mem=2000M\n"
             "--time=30\n"
             "--chdir=/home/u/my work\n"
             "-o\n"
             "/home/u/.jabas/c/12/members/%j.log\n");
}

BOOST_AUTO_TEST_CASE(an_unlimited_lead_gives_no_time_and_own_memory_options_win) {
  MemberNeed unlimited = need();
  unlimited.time_left_s = -1;
  unlimited.extra = {"--partition=gpu", "--mem-per-gpu=4G"};
  const std::string text = joined(member_submission(run_template(), unlimited));
  BOOST_TEST(text.find("--time") == std::string::npos);
  BOOST_TEST(text.find("--mem=2000M") == std::string::npos);
  BOOST_TEST(text.find("%j.log\n--partition=gpu\n--mem-per-gpu=4G\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(less_than_a_minute_is_not_asked_for) {
  MemberNeed late = need();
  late.time_left_s = 59;
  BOOST_TEST(!enough_time(late));
  late.time_left_s = 60;
  BOOST_TEST(enough_time(late));
}

BOOST_AUTO_TEST_CASE(the_script_quotes_and_the_environment_is_scrubbed) {
  const MemberSubmission submission = member_submission(run_template(), need());
  BOOST_TEST(submission.script == "#!/bin/sh\nexec '/opt/it'\\''s/jabas-run' join --workers 2\n");
  const std::map<std::string, std::string> expected = {{"PATH", "/bin"},
                                                       {"SLURM_CONF", "/etc/slurm.conf"},
                                                       {"HOME", "/home/u"},
                                                       {"JABAS_MEMBER", "12.1"},
                                                       {"JABAS_RUN_DIR", "/home/u/.jabas/c/12"},
                                                       {"JABAS_ENDPOINT", "tcp://10.0.0.1:4321"},
                                                       {"JABAS_GPU_TYPE", "v100"},
                                                       {"JABAS_REQUEST", "3"}};
  BOOST_TEST((submission.environment == expected));
}

BOOST_AUTO_TEST_CASE(the_comment_names_the_request) {
  BOOST_TEST(request_of_comment(member_comment(42, "a100")) == 42);
  for (const char* other : {"", "jabas:", "jabas:x:v100", "jabas:4", "my jabas:4:v100"}) {
    BOOST_TEST(request_of_comment(other) == 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
