#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "spank_plugin/launch.h"

namespace {

using jabas::LaunchPlan;
using jabas::Options;

const char* const kEnvironment[] = {"SLURM_JOB_ID=17", "HOME=/home/u", "SLURM_CLUSTER_NAME=c",
                                    "SLURM_SUBMIT_DIR=/submit", nullptr};

LaunchPlan planned(const Options& options, const char* const* environment = kEnvironment,
                   const std::string& passwd_home = "/pw") {
  LaunchPlan plan;
  BOOST_TEST(plan_launch(options, "/lib/jabas", environment, passwd_home, &plan) == "");
  return plan;
}

std::string problem(const std::string& libexec, const char* const* environment,
                    const std::string& passwd_home) {
  LaunchPlan plan;
  return plan_launch(Options(), libexec, environment, passwd_home, &plan);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(launch_tests)

BOOST_AUTO_TEST_CASE(commands_of_supervisor_and_daemon) {
  Options options;
  options.on = true;
  options.gpus = {{"v100", 0, 4}};
  const LaunchPlan plan = planned(options);
  const std::vector<std::string> supervisor = {"/lib/jabas/jabas-supervise", "--script-pid"};
  const std::vector<std::string> daemon = {"/lib/jabas/jabasd", "--run-dir", "/home/u/.jabas/c/17",
                                           "--jabas-gpus=v100:0-4"};
  BOOST_TEST(plan.supervisor == supervisor, boost::test_tools::per_element());
  BOOST_TEST(plan.daemon == daemon, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(run_directory) {
  BOOST_TEST(planned(Options()).run_dir == "/home/u/.jabas/c/17");
  const char* const bare[] = {"SLURM_JOB_ID=17", nullptr};
  BOOST_TEST(planned(Options(), bare).run_dir == "/pw/.jabas/cluster/17");
  Options options;
  options.state_dir = "/shared";
  BOOST_TEST(planned(options).run_dir == "/shared/c/17");
  BOOST_TEST(planned(options, bare, "").run_dir == "/shared/cluster/17");
}

BOOST_AUTO_TEST_CASE(relative_files_are_those_of_the_submission) {
  Options options;
  options.prices = "p.json";
  options.profile = "/abs.json";
  BOOST_TEST(planned(options).daemon[3] == "--jabas-prices=/submit/p.json");
  BOOST_TEST(planned(options).daemon[4] == "--jabas-profile=/abs.json");
  options.prices = "http://h/p.json";
  BOOST_TEST(planned(options).daemon[3] == "--jabas-prices=http://h/p.json");
}

BOOST_AUTO_TEST_CASE(what_keeps_a_daemon_from_starting) {
  const char* const bare[] = {"SLURM_JOB_ID=17", nullptr};
  const char* const no_job[] = {"HOME=/home/u", nullptr};
  BOOST_TEST(problem("", kEnvironment, "") ==
             "plugstack.conf gives no absolute libexec= directory");
  BOOST_TEST(problem("bin", kEnvironment, "") ==
             "plugstack.conf gives no absolute libexec= directory");
  BOOST_TEST(problem("/l", bare, "") == "the user has no home directory; give --jabas-state=DIR");
  BOOST_TEST(problem("/l", no_job, "") == "SLURM_JOB_ID is not set in the job's environment");
}

BOOST_AUTO_TEST_CASE(variables_are_found_by_their_whole_name) {
  const char* const list[] = {"AB=1", "A=2", "B", nullptr};
  BOOST_TEST(jabas::find_variable(list, "A") == std::string("2"));
  BOOST_TEST(jabas::find_variable(list, "B") == nullptr);
}

// Runs the swap in a child; its exit code tells which process came back, and how.
BOOST_AUTO_TEST_CASE(without_a_supervisor_the_same_process_goes_on) {
  LaunchPlan plan;
  plan.daemon = {"/bin/true"};
  char garbage[] = "/tmp/launch_tests.XXXXXX";
  const int fd = mkstemp(garbage);
  BOOST_REQUIRE(fd >= 0);
  BOOST_REQUIRE(write(fd, "\177ELFx", 5) == 5);
  BOOST_REQUIRE(fchmod(fd, 0700) == 0);
  close(fd);
  for (const std::string& path : {std::string("/no/such"), std::string(garbage)}) {
    plan.supervisor = {path, "--script-pid"};
    const pid_t child = fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) {
      char* environment[] = {nullptr};
      const pid_t before = getpid();
      const std::string text = swap_with_supervisor(plan, environment);
      const bool same = getpid() == before;
      const bool said = text.starts_with(path + " cannot be executed: ");
      const bool childless = waitpid(-1, nullptr, WNOHANG) < 0;
      _exit(same && said && childless ? 42 : 1);
    }
    int status = 0;
    BOOST_REQUIRE(waitpid(child, &status, 0) == child);
    BOOST_TEST(WIFEXITED(status));
    BOOST_TEST(WEXITSTATUS(status) == 42);
  }
  unlink(garbage);
}

BOOST_AUTO_TEST_SUITE_END()
