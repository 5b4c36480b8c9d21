// Child processes: start one of our own, run a tool with a deadline. Never a shell. Every child
// gets SIGKILL when the thread that started it ends, so that nothing outlives its parent.
// Errors: IoError naming the program.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace jabas {

struct ChildOptions {
  std::vector<std::string>
      arguments;  // arguments[0] = path of the program, or its name looked up in PATH
  std::vector<std::string> environment;  // "NAME=value", added to or replacing ours
  int inherited_fd = -1;                 // stays open in the child under the same number
};
pid_t start_child(const ChildOptions& options);

struct ToolResult {
  bool finished = false;  // false: killed at the deadline, or not found
  int exit_code = -1;
  std::string output;  // stdout; stderr is dropped
};
ToolResult run_tool(const std::vector<std::string>& arguments, std::chrono::milliseconds deadline);

// This program's own path.
std::string own_executable();
// "exit code 3" or "killed by signal 9 (Killed)".
std::string describe_status(int wait_status);

}  // namespace jabas
