// Runs one program to its end, with a deadline, and returns what it wrote.
//
// The program gets its own process group, default signal handling, an empty signal mask and exactly
// the environment given; standard output and error are kept apart. At the deadline the whole group
// is killed. Threads: safe to call from several.   Errors: values, never exceptions.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace jabas {

struct ProcessResult {
  bool started = false;
  bool timed_out = false;
  int exit_code = -1;  // -1 when it did not exit by itself
  int signal = 0;      // that ended it
  std::string out, err;
  std::string start_error;  // why it could not be started
  bool ok() const { return started && !timed_out && exit_code == 0; }
};

// `argv[0]` is looked up in PATH of this process. `input` is at most 60 KiB (one pipe).
ProcessResult run_process(const std::vector<std::string>& argv,
                          const std::map<std::string, std::string>& environment,
                          const std::string& input, std::chrono::milliseconds deadline);

// One line for the user or the log: "exit code 1: <first line of stderr>", "no answer within 5 s",
// …
std::string failure_text(const ProcessResult& result);

// The environment of this process.
std::map<std::string, std::string> process_environment();

}  // namespace jabas
