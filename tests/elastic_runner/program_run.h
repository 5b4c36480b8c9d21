// Runs the real jabas-run of this build as a process of its own.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "elastic_runner/process.h"

namespace jabas::testing {

inline std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

inline std::string file_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline bool wait_until(std::chrono::seconds deadline, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

class ProgramRun {
 public:
  // `line` = arguments of jabas-run; output and errors go to files under `directory`.
  ProgramRun(const std::string& directory, const std::string& line)
      : out_(directory + "/out.txt"), err_(directory + "/err.txt") {
    const char* build = std::getenv("JABAS_BUILD_DIR");
    if (build == nullptr) throw std::runtime_error("JABAS_BUILD_DIR is not set; run through ctest");
    ChildOptions child;
    child.arguments = {"/bin/sh", "-c", "exec \"$0\" \"$@\" >\"$TEST_OUT\" 2>\"$TEST_ERR\"",
                       std::string(build) + "/bin/jabas-run"};
    for (auto& word : words(line)) child.arguments.push_back(word);
    child.environment = {"TEST_OUT=" + out_, "TEST_ERR=" + err_};
    pid_ = start_child(child);
  }
  ~ProgramRun() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ProgramRun(const ProgramRun&) = delete;
  ProgramRun& operator=(const ProgramRun&) = delete;

  // Exit code, 128 + signal, or -1 if it had to be killed at the deadline.
  int wait(std::chrono::seconds deadline = std::chrono::seconds(240)) {
    int status = 0;
    const bool ended =
        wait_until(deadline, [&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; });
    if (!ended) return -1;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void kill(int signal) { ::kill(pid_, signal); }
  std::string out() const { return file_text(out_); }
  std::string err() const { return file_text(err_); }
  // Process ids of its worker processes, oldest first.
  std::vector<pid_t> children() const {
    const std::string task =
        "/proc/" + std::to_string(pid_) + "/task/" + std::to_string(pid_) + "/children";
    std::istringstream list(file_text(task));
    std::vector<pid_t> result;
    for (pid_t pid; list >> pid;) result.push_back(pid);
    return result;
  }

 private:
  const std::string out_, err_;
  pid_t pid_ = -1;
};

}  // namespace jabas::testing
