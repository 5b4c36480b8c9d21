#include "allocator/sim_simulation.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "allocator/csv_table.h"
#include "allocator/error.h"
#include "allocator/sia_import.h"
#include "allocator/simulator/sia_workload.h"
#include "allocator/text_file.h"

namespace jabas::sim {
namespace {

GainRule gain_rule(const SimulationOptions& options) {
  if (options.gain == "measured") return GainRule::kMeasured;
  if (options.gain == "formula") return GainRule::kFormula;
  throw UsageError("--gain=" + options.gain + " is not accepted; must be measured or formula");
}

}  // namespace

void add_simulation_options(CLI::App& command, SimulationOptions* options) {
  command.add_option("--sia", options->sia,
                     "Folder of a measured training: placements-TYPE.csv and validation-BATCH.csv");
  command.add_option("--cluster", options->cluster, "GPUs there are: TYPE:COUNT[,TYPE:COUNT...]");
  command.add_option("--prices", options->prices,
                     "Prices per GPU-hour: a file of JSON or lines TYPE,PRICE");
  command.add_option("--availability", options->availability,
                     "CSV time_s,type,gpus[,wait_s]: GPUs that can be had over time");
  command.add_option("--gain", options->gain,
                     "Progress per step of --sia: measured, or by the formula from the noise");
  command.add_option("--unit", options->unit, "jabas: GPUs that come and go together (2)")
      ->check(CLI::Range(1, 1024));
  command.add_option("--csv", options->csv, "File for the table of results");
  command.add_flag("--json", options->json, "Print everything as JSON");
}

PriceList read_prices(const SimulationOptions& options, const GpuCounts& cluster,
                      const PriceList& fallback) {
  PriceList prices = fallback;
  if (!options.prices.empty())
    prices = parse_prices(read_text_file(options.prices, "the prices"), options.prices);
  for (const auto& [type, count] : cluster)
    if (!prices.usd_per_gpu_h.contains(type))
      throw UsageError("no price for GPU type " + type + " (" + prices.source +
                       "): give a file with --prices");
  return prices;
}

GpuCounts cluster_of(const std::string& text, const std::string& option, const Profile& profile) {
  const GpuCounts cluster = normalized(parse_cluster(text, option));
  for (const auto& [type, count] : cluster) {
    if (profile.types.contains(type)) continue;
    std::string known;
    for (const auto& [name, times] : profile.types) known += (known.empty() ? "" : ", ") + name;
    throw UsageError(option + "=" + text + ": there are no times for GPU type " + type +
                     "; known: " + known);
  }
  return cluster;
}

Setting sia_setting(const SimulationOptions& options, const GpuCounts& cluster, SiaImport import) {
  Setting setting(read_sia_workload(options.sia, gain_rule(options)), std::move(import.profile),
                  read_prices(options, cluster, {sia_prices(), "built-in for Sia's clusters"}));
  setting.unit = options.unit;
  return setting;
}

Availability availability_of(const SimulationOptions& options, const GpuCounts& cluster) {
  if (options.availability.empty()) return Availability(cluster);
  return Availability(cluster, CsvTable::read(options.availability));
}

NamedResult simulate_named(const Setting& setting, const Availability& availability,
                           const std::string& policy) {
  const std::unique_ptr<Policy> decides = make_policy(policy, setting);
  std::string cluster = to_list(availability.cluster());
  std::replace(cluster.begin(), cluster.end(), ',', '+');
  return {setting.workload.name(), cluster, policy, to_text(setting.objective),
          simulate(setting, *decides, availability)};
}

void print_results(const SimulationOptions& options, const std::vector<NamedResult>& results,
                   const std::string& details) {
  const std::vector<std::string> said = remarks(results, options.gain == "measured");
  if (!options.csv.empty()) write_text_file(options.csv, results_csv(results), "the results");
  if (options.json) {
    std::fputs(results_json(results, said).c_str(), stdout);
    return;
  }
  std::fputs(details.c_str(), stdout);
  std::fputs("\n", stdout);
  for (const std::string& remark : said) std::printf("# %s\n", remark.c_str());
  if (options.csv.empty()) std::fputs(results_csv(results).c_str(), stdout);
}

}  // namespace jabas::sim
