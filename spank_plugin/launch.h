// Starts jabas-supervise from inside the batch step's task (docs/architecture.md, "Launch"): the
// task process becomes the supervisor, a fork of it becomes the user's script. So signals, exit
// code and end of the job reach both.
//
// Threads: the task process is single-threaded between slurmstepd's fork and exec.
// Errors:  a reason in words; the caller goes on without JABAS.
#pragma once

#include <string>
#include <vector>

#include "spank_plugin/options.h"

namespace jabas {

struct LaunchPlan {
  std::string run_dir;
  std::vector<std::string> supervisor;  // its path, and the arguments before the script's pid
  std::vector<std::string> daemon;      // path and arguments of jabasd
};

// Value of `name` in a list of "NAME=VALUE" that ends with a null pointer; null if absent.
const char* find_variable(const char* const* environment, const char* name);

// Pure. passwd_home: the user's home directory where HOME is not set; "" = unknown. Returns the
// problem, "" on success.
std::string plan_launch(Options options, const std::string& libexec, const char* const* environment,
                        const std::string& passwd_home, LaunchPlan* plan);

// "" in the process that is to become the user's script, now a child of the supervisor. On a
// problem (its text is returned) nothing has been started and the calling process itself is still
// the task. `environment` is the supervisor's.
std::string swap_with_supervisor(const LaunchPlan& plan, char* const* environment);

}  // namespace jabas
