// jabas-sim run: whole runs of one training under several policies on a virtual clock
// (docs/simulator.md).
#include <CLI/CLI.hpp>
#include <memory>

#include "allocator/error.h"
#include "allocator/sim_command.h"
#include "allocator/sim_simulation.h"

namespace jabas::sim {
namespace {

struct Options : SimulationOptions {
  std::vector<std::string> policies = {"jabas"};
  std::string objective = "time", gpus;
  std::int64_t fixed_batch = 0;
};

void check(const Options& options) {
  const bool has_static = std::count(options.policies.begin(), options.policies.end(), "static");
  if (!has_static && (options.fixed_batch > 0 || !options.gpus.empty()))
    throw UsageError("--fixed-batch and --gpus are for the policy static; give --policy static");
  if (options.sia.empty()) throw UsageError("--sia is needed: the folder of a measured training");
  if (options.cluster.empty() && options.gpus.empty())
    throw UsageError("--cluster is needed, such as --cluster=aws:16,dgx:8");
}

ExitCode simulate_all(const Options& options) {
  check(options);
  SiaImport import = import_sia(options.sia);
  const std::string& cluster_text = options.cluster.empty() ? options.gpus : options.cluster;
  const GpuCounts cluster = cluster_of(cluster_text, "--cluster", import.profile);
  const GpuCounts gpus =
      options.gpus.empty() ? cluster : cluster_of(options.gpus, "--gpus", import.profile);
  GpuCounts all = cluster;
  all.insert(gpus.begin(), gpus.end());
  Setting setting = sia_setting(options, all, std::move(import));
  setting.objective = parse_objective(options.objective);
  setting.fixed_batch = options.fixed_batch;
  std::vector<NamedResult> results;
  for (const std::string& policy : options.policies)
    results.push_back(simulate_named(
        setting, availability_of(options, policy == "static" ? gpus : cluster), policy));
  print_results(options, results, epochs_csv(results));
  return ExitCode::kOk;
}

}  // namespace

void add_run(CLI::App& app, Run& run) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("run", "Whole runs under several policies, simulated");
  add_simulation_options(*command, options.get());
  command->add_option("--policy", options->policies, "Policies, separated by commas")
      ->delimiter(',');
  command->add_option(
      "--objective", options->objective,
      "Of jabas and static-tuned: time[:EPS], cost, balanced[:ALPHA], value:V, ...");
  command->add_option("--fixed-batch", options->fixed_batch, "static: the global batch")
      ->check(CLI::Range(std::int64_t(1), std::int64_t(1'000'000'000)));
  command->add_option("--gpus", options->gpus, "static: its GPUs, TYPE:COUNT[,...]");
  command->callback([options, &run] { run = [options] { return simulate_all(*options); }; });
}

}  // namespace jabas::sim
