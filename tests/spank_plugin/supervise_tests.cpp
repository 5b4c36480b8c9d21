// jabas-supervise with fake scripts and daemons, which are small shell programs; no Slurm.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>

#include "tests/support/temp_dir.h"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kDeadline = 30s;

// A supervisor as the plugin starts it: a process forks the script, then becomes the supervisor.
// (Here that process is a shell, which may reap a script that ends at once: scripts wait for the
// daemon.) Script and daemon run in a directory of their own; `wait_for FILE` is defined in both.
class Supervised {
 public:
  Supervised(const std::string& script, const std::string& daemon) {
    const std::string head =
        "#!/bin/sh\nwait_for() { until [ -e \"$1\" ]; do sleep 0.02; done; }\n";
    write_program("script", head + script);
    if (!daemon.empty()) write_program("daemon", head + "echo $$ >>daemon.pids\n" + daemon);
    write_program("start",
                  "#!/bin/sh\n./script & echo $! >script.pid\nexec \"$1\" --script-pid $! -- "
                  "./daemon --run-dir x\n");
    supervisor_ = fork();
    BOOST_REQUIRE(supervisor_ >= 0);
    if (supervisor_ == 0) {
      if (chdir(directory_.path().c_str()) != 0 || !freopen("stderr", "w", stderr)) _exit(1);
      const std::string program =
          std::string(std::getenv("JABAS_BUILD_DIR")) + "/bin/jabas-supervise";
      execl("./start", "start", program.c_str(), nullptr);
      _exit(1);
    }
  }
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;
  ~Supervised() {
    if (supervisor_ > 0) {
      kill(supervisor_, SIGKILL);
      waitpid(supervisor_, nullptr, 0);
    }
    // Only a failed test leaves these.
    for (const std::string& file : {std::string("script.pid"), std::string("daemon.pids")}) {
      std::istringstream pids(read(file));
      for (pid_t pid; pids >> pid;) {
        if (alive(pid)) kill(pid, SIGKILL);
      }
    }
  }

  std::string read(const std::string& file) const {
    std::ifstream stream(directory_ / file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  void touch(const std::string& file) const { std::ofstream(directory_ / file); }
  void send(int signal_number) const { BOOST_REQUIRE(kill(supervisor_, signal_number) == 0); }

  // Fails the test when the deadline passes.
  static void until(const std::string& what, const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!condition()) {
      BOOST_REQUIRE_MESSAGE(std::chrono::steady_clock::now() < deadline, "not in time: " + what);
      std::this_thread::sleep_for(10ms);
    }
  }
  void until_file(const std::string& file, const std::string& text = "") const {
    until(file + " has '" + text + "'", [&] {
      return fs::exists(directory_ / file) && read(file).find(text) != std::string::npos;
    });
  }
  // Waits for the supervisor's end.
  int status() {
    int result = 0;
    until("the supervisor ends", [&] { return waitpid(supervisor_, &result, WNOHANG) != 0; });
    supervisor_ = 0;
    return result;
  }
  pid_t pid_in(const std::string& file) const { return std::atoi(read(file).c_str()); }
  long starts() const {
    const std::string pids = read("daemon.pids");
    return std::count(pids.begin(), pids.end(), '\n');
  }
  // A zombie counts as alive where its parent is alive, and as gone otherwise: nobody may reap in a
  // container.
  static bool alive(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    return std::getline(file, line) && line.substr(line.rfind(')') + 2, 1) != "Z";
  }
  static bool reaped(pid_t pid) { return !fs::exists("/proc/" + std::to_string(pid)); }

 private:
  void write_program(const std::string& name, const std::string& text) const {
    const fs::path path = directory_ / name;
    std::ofstream(path) << text << "\n";
    BOOST_REQUIRE(chmod(path.c_str(), 0700) == 0);
  }
  TempDir directory_;
  pid_t supervisor_ = 0;
};

const std::string kPatient = "trap 'touch drained; exit 0' TERM; while :; do sleep 0.02; done";

}  // namespace

BOOST_AUTO_TEST_SUITE(supervise_tests)

BOOST_AUTO_TEST_CASE(the_exit_code_of_the_script_is_carried) {
  Supervised run("wait_for daemon.pids; exit 7", kPatient);
  const int status = run.status();
  BOOST_TEST(WIFEXITED(status));
  BOOST_TEST(WEXITSTATUS(status) == 7);
}

BOOST_AUTO_TEST_CASE(the_signal_of_the_script_is_carried) {
  for (const int signal_number : {SIGKILL, SIGSEGV, SIGUSR2}) {
    Supervised run("wait_for daemon.pids; kill -" + std::to_string(signal_number) + " $$",
                   kPatient);
    const int status = run.status();
    BOOST_TEST(WIFSIGNALED(status));
    BOOST_TEST(WTERMSIG(status) == signal_number);
  }
}

BOOST_AUTO_TEST_CASE(the_daemon_drains_when_the_script_ends) {
  Supervised run("wait_for armed", "touch armed; trap 'sleep 0.3; touch drained; exit 0' TERM\n" +
                                       std::string("while :; do sleep 0.02; done"));
  run.status();
  run.until_file("drained");  // the supervisor waited for it
  BOOST_TEST(run.read("stderr") == "");
}

BOOST_AUTO_TEST_CASE(a_daemon_that_does_not_drain_is_killed) {
  Supervised run("wait_for armed; exit 3",
                 "trap '' TERM; touch armed; while :; do sleep 0.02; done");
  BOOST_TEST(WEXITSTATUS(run.status()) == 3);
  BOOST_TEST(Supervised::reaped(run.pid_in("daemon.pids")));
  BOOST_TEST(run.read("stderr") ==
             "jabas-supervise: the daemon did not end within 10 s after the script and is killed\n"
             "jabas-supervise: the daemon was killed by signal 9\n");
}

BOOST_AUTO_TEST_CASE(a_daemon_that_ends_with_0_is_not_started_again) {
  Supervised run("wait_for go; exit 7", "exit 0");
  run.until_file("daemon.pids", "\n");
  Supervised::until("the daemon is reaped",
                    [&] { return Supervised::reaped(run.pid_in("daemon.pids")); });
  run.touch("go");
  BOOST_TEST(WEXITSTATUS(run.status()) == 7);
  BOOST_TEST(run.starts() == 1);
  BOOST_TEST(run.read("stderr") == "");
}

BOOST_AUTO_TEST_CASE(a_failing_daemon_is_started_again_five_times) {
  Supervised run("wait_for go; exit 7", "exit 3");
  run.until_file("stderr", "not started any more");
  BOOST_TEST(run.starts() == 6);
  BOOST_TEST(Supervised::alive(run.pid_in("script.pid")));
  run.touch("go");
  BOOST_TEST(WEXITSTATUS(run.status()) == 7);
  BOOST_TEST(run.starts() == 6);
  std::string expected;
  for (int i = 1; i <= 6; ++i) {
    expected += "jabas-supervise: the daemon ended with exit code 3\n";
    if (i == 6) break;
    expected += "jabas-supervise: starting the daemon again (" + std::to_string(i) +
                " of at most 5 in 10 minutes)\n";
  }
  expected +=
      "jabas-supervise: the daemon was started again 5 times within 10 minutes and is not started "
      "any more; the script goes on\n";
  BOOST_TEST(run.read("stderr") == expected);
}

BOOST_AUTO_TEST_CASE(a_killed_daemon_is_started_again) {
  Supervised run("wait_for go", kPatient);
  run.until_file("daemon.pids", "\n");
  BOOST_REQUIRE(kill(run.pid_in("daemon.pids"), SIGKILL) == 0);
  Supervised::until("a second start", [&] { return run.starts() == 2; });
  run.touch("go");
  run.status();
  BOOST_TEST(run.read("stderr").find("the daemon was killed by signal 9") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(term_drains_the_daemon_and_leaves_the_script) {
  Supervised run("trap 'touch script_got_term' TERM; wait_for go; exit 7",
                 "trap 'touch drained; exit 1' TERM; touch armed; while :; do sleep 0.02; done");
  run.until_file("armed");
  run.send(SIGTERM);
  run.until_file("drained");
  run.until_file("stderr", "the daemon ended with exit code 1\n");
  run.touch("go");
  BOOST_TEST(WEXITSTATUS(run.status()) == 7);
  BOOST_TEST(run.starts() == 1);  // draining: not started again
  BOOST_TEST(run.read("stderr") == "jabas-supervise: the daemon ended with exit code 1\n");
  BOOST_TEST(run.read("script_got_term") == "");
}

BOOST_AUTO_TEST_CASE(user_signals_go_to_the_script) {
  Supervised run(
      "for s in HUP INT QUIT USR1 USR2; do trap \"echo $s >>got\" $s; done; touch armed; wait_for "
      "go",
      kPatient);
  run.until_file("armed");
  run.until_file("daemon.pids", "\n");
  // A script started in the background by sh has INT and QUIT ignored for good.
  for (const auto& [number, name] :
       {std::pair{SIGHUP, "HUP"}, std::pair{SIGUSR1, "USR1"}, std::pair{SIGUSR2, "USR2"}}) {
    run.send(number);
    run.until_file("got", name);
  }
  for (const int number : {SIGPIPE, SIGALRM, SIGWINCH, SIGTSTP, SIGRTMIN}) run.send(number);
  run.touch("go");
  BOOST_TEST(WEXITSTATUS(run.status()) == 0);
  BOOST_TEST(run.read("got") == "HUP\nUSR1\nUSR2\n");
}

BOOST_AUTO_TEST_CASE(a_killed_supervisor_takes_the_daemon_along) {
  Supervised run("wait_for go", kPatient);
  run.until_file("daemon.pids", "\n");
  run.send(SIGKILL);
  run.status();
  Supervised::until("the daemon is gone",
                    [&] { return !Supervised::alive(run.pid_in("daemon.pids")); });
  run.touch("go");
}

BOOST_AUTO_TEST_CASE(without_a_daemon_the_script_goes_on) {
  Supervised run("wait_for go; exit 7", "");
  run.until_file("stderr", "\n");
  run.touch("go");
  BOOST_TEST(WEXITSTATUS(run.status()) == 7);
  BOOST_TEST(run.read("stderr") ==
             "jabas-supervise: ./daemon cannot be executed: No such file or directory; the script "
             "goes on without JABAS\n");
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_refused) {
  const std::string program = std::string(std::getenv("JABAS_BUILD_DIR")) + "/bin/jabas-supervise";
  for (const char* arguments :
       {"", "--script-pid", "--script-pid x -- true", "--script-pid 1 -- true",
        "--script-pid 5 -- ", "--script-pid $$ -- true"}) {
    const int status = std::system((program + " " + arguments + " 2>/dev/null").c_str());
    BOOST_TEST(WIFEXITED(status));
    BOOST_TEST(WEXITSTATUS(status) == 2);
  }
}

BOOST_AUTO_TEST_SUITE_END()
