// jabas-run: trains. `train` in a batch script or with --local, `join` in member jobs,
// `profile` before, `check-ledger` afterwards; `worker` is internal. Exit codes: allocator/error.h.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "elastic_runner/console.h"
#include "elastic_runner/gloo_communicator.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/join.h"
#include "elastic_runner/ledger_check.h"
#include "elastic_runner/local_controller.h"
#include "elastic_runner/process.h"
#include "elastic_runner/profile_command.h"
#include "elastic_runner/run_directory.h"
#include "elastic_runner/train_files.h"
#include "elastic_runner/train_options.h"
#include "elastic_runner/training_check.h"
#include "elastic_runner/worker.h"

namespace jabas {
namespace {

constexpr char kUsage[] =
    "usage: jabas-run train [options]        train; in a job with --jabas-gpus, or with --local N\n"
    "       jabas-run join --workers N       run workers in a member job (submitted by jabasd)\n"
    "       jabas-run profile [options]      measure this GPU for a model; --help lists the "
    "options\n"
    "       jabas-run check-ledger DIR       was every sample read exactly once?\n"
    "       jabas-run train --help           options of train\n"
    "       jabas-run --version\n";

RunnerBackends backends() {
  RunnerBackends result;
  result.make_engine = make_iidp_engine;
  result.check_training = check_training;
  result.make_communicator = [](RendezvousStore& store, int rank, int world_size,
                                const std::string& address) {
    GlooOptions options;
    options.bind_address = address;
    return make_gloo_communicator(store, rank, world_size, options);
  };
  return result;
}

int train(const std::vector<std::string>& arguments) {
  TrainCommand command = parse_train_arguments(arguments);
  check_train_files(command.spec, backends());
  if (!command.local) return run_console(std::move(command), own_executable());
  const LocalProfile profile =
      read_local_profile(command.profile.empty() ? environment("JABAS_PROFILE") : command.profile,
                         environment("JABAS_GPU_TYPE"));
  return run_local(command.spec, profile, own_executable());
}

int profile(const std::vector<std::string>& arguments) {
  return run_profile(parse_profile_arguments(arguments), backends());
}

// Parses with CLI11; its errors become ours.
void parse(CLI::App& app, const std::vector<std::string>& arguments) {
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    throw HelpRequested(app.help());
  } catch (const CLI::ParseError& error) {
    throw UsageError(app.get_name() + ": " + error.what());
  }
}

int worker(const std::vector<std::string>& arguments) {
  CLI::App app("internal: one worker process", "worker");
  WorkerOptions options;
  app.add_option("--local-rank", options.local_rank)->required();
  app.add_option("--control-fd", options.control_fd);
  parse(app, arguments);
  return int(run_worker(options, backends()));
}

int join(const std::vector<std::string>& arguments) {
  CLI::App app("Runs workers in a member job", "join");
  int workers = 1;
  app.add_option("--workers", workers, "Worker processes, one per GPU")->required();
  parse(app, arguments);
  return run_join(workers, own_executable());
}

int check(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1)
    throw UsageError("check-ledger: accepted is one folder, as given to train --ledger-out");
  const LedgerReport report = check_ledger(arguments.front());
  for (const auto& line : report.problems) std::printf("%s\n", line.c_str());
  std::printf("%s\n", report.summary.c_str());
  return report.problems.empty() ? 0 : int(ExitCode::kFailed);
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty())
    throw UsageError("no command given; accepted are train, join, profile and check-ledger");
  const std::string& command = arguments.front();
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (command == "train") return train(rest);
  if (command == "worker") return worker(rest);
  if (command == "join") return join(rest);
  if (command == "profile") return profile(rest);
  if (command == "check-ledger") return check(rest);
  if (command == "--help" || command == "-h") throw HelpRequested(kUsage);
  if (command == "--version") throw HelpRequested("jabas-run " JABAS_VERSION "\n");
  throw UsageError("command '" + command + "': accepted are train, join, profile and check-ledger");
}

}  // namespace
}  // namespace jabas

int main(int argc, char** argv) {
  try {
    return jabas::dispatch(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const jabas::HelpRequested& help) {
    std::fputs(help.what(), stdout);
    return 0;
  } catch (const jabas::Error& error) {
    std::fprintf(stderr, "jabas-run: %s\n", error.what());
    return int(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "jabas-run: internal error: %s\n", error.what());
    return int(jabas::ExitCode::kInternal);
  }
}
