// jabas-sim plan: what a training would take and cost under several objectives, before it is
// submitted: from a measured training (--sia) or from a profile and an assumed gradient noise
// (docs/simulator.md).
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "allocator/error.h"
#include "allocator/sim_command.h"
#include "allocator/sim_profile.h"
#include "allocator/sim_simulation.h"

namespace jabas::sim {
namespace {

// More steps at the smallest batch would be simulated for hours.
constexpr double kMostSteps = 1e9;

struct Options : SimulationOptions {
  std::vector<std::string> objectives = {"time", "balanced", "cost"};
  std::string profile;
  std::int64_t samples = 0, batch_min = 0, batch_max = 0;
  int epochs = 0;
  double noise = 0;
  ModelRules rules;
};

void check(const Options& options) {
  if (options.sia.empty() == options.profile.empty())
    throw UsageError("give either --sia or --profile");
  if (options.cluster.empty())
    throw UsageError("--cluster is needed, such as --cluster=v100:4,p100:8");
  if (!options.sia.empty() && options.rules.reference)
    throw UsageError("--reference-rounding goes with --profile");
  if (!options.sia.empty()) return;
  if (options.samples < 1 || options.epochs < 1 || options.batch_min < 1 ||
      options.batch_max < options.batch_min || !(options.noise > 0))
    throw UsageError(
        "--profile needs --samples, --epochs, --batch-min, --batch-max (not below --batch-min) and "
        "--noise");
  if (double(options.epochs) * double(options.samples) / double(options.batch_min) > kMostSteps)
    throw UsageError("--samples, --epochs and --batch-min make more than 1e9 steps");
}

Setting profile_setting(const Options& options, Profile profile, const GpuCounts& cluster) {
  std::vector<std::string> types;
  for (const auto& [type, count] : cluster) types.push_back(type);
  const std::string name = profile.model.empty() ? "profile" : profile.model;
  Setting setting(Workload::assumed(name, options.noise, options.batch_min, options.batch_max,
                                    options.samples, options.epochs),
                  std::move(profile), read_prices(options, cluster, builtin_prices(types)),
                  options.rules);
  setting.unit = options.unit;
  return setting;
}

ExitCode plan(const Options& options) {
  check(options);
  std::optional<Setting> setting;
  GpuCounts cluster;
  if (options.profile.empty()) {
    SiaImport import = import_sia(options.sia);
    cluster = cluster_of(options.cluster, "--cluster", import.profile);
    setting.emplace(sia_setting(options, cluster, std::move(import)));
  } else {
    Profile profile = read_profile(options.profile);
    cluster = cluster_of(options.cluster, "--cluster", profile);
    setting.emplace(profile_setting(options, std::move(profile), cluster));
  }
  const Availability availability = availability_of(options, cluster);
  std::vector<NamedResult> results;
  for (const std::string& text : options.objectives) {
    setting->objective = parse_objective(text);
    results.push_back(simulate_named(*setting, availability, "jabas"));
  }
  print_results(options, results, plan_table(results));
  return ExitCode::kOk;
}

}  // namespace

void add_plan(CLI::App& app, Run& run) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("plan", "Time and cost of a training under several objectives");
  add_simulation_options(*command, options.get());
  command
      ->add_option("--objective,--objectives", options->objectives,
                   "Objectives, separated by commas (time,balanced,cost)")
      ->delimiter(',');
  command->add_option("--profile", options->profile, "Profile of the training, without --sia");
  add_rule_options(*command, &options->rules);
  command->add_option("--samples", options->samples, "--profile: training samples of an epoch");
  command->add_option("--epochs", options->epochs, "--profile: epochs at the smallest batch");
  command->add_option("--batch-min", options->batch_min, "--profile: smallest global batch");
  command->add_option("--batch-max", options->batch_max, "--profile: largest global batch");
  command->add_option("--noise", options->noise,
                      "--profile: assumed variance of the gradient at --batch-min over its squared "
                      "norm, the same all the time");
  command->callback([options, &run] { run = [options] { return plan(*options); }; });
}

}  // namespace jabas::sim
