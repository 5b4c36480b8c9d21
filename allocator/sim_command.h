// The subcommands of jabas-sim. Each file sim_NAME.cpp declares its options and says what to run
// once the command line was read.
#pragma once

#include <functional>

#include "allocator/error.h"

namespace CLI {
class App;
}

namespace jabas::sim {

using Run = std::function<ExitCode()>;

// `run` is set when the subcommand was chosen; it must outlive the parsing.
void add_decide(CLI::App& app, Run& run);
void add_forecast(CLI::App& app, Run& run);
void add_iter_time(CLI::App& app, Run& run);
void add_solve(CLI::App& app, Run& run);
void add_import(CLI::App& app, Run& run);
void add_import_sia(CLI::App& app, Run& run);
void add_merge(CLI::App& app, Run& run);
void add_plan(CLI::App& app, Run& run);
void add_run(CLI::App& app, Run& run);

}  // namespace jabas::sim
