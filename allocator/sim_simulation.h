// What `run` and `plan` of jabas-sim have in common: options, and what is made of them.
// Errors: UsageError naming option, value and what is accepted; InputError and IoError for files.
#pragma once

#include <string>
#include <vector>

#include "allocator/sia_import.h"
#include "allocator/simulator/availability.h"
#include "allocator/simulator/report.h"

namespace CLI {
class App;
}

namespace jabas::sim {

struct SimulationOptions {
  std::string sia, cluster, prices, availability, gain = "measured", csv;
  int unit = 2;
  bool json = false;
};

// `options` must outlive the parsing.
void add_simulation_options(CLI::App& command, SimulationOptions* options);

// The GPUs of an option's text; the profile must have every type.
GpuCounts cluster_of(const std::string& text, const std::string& option, const Profile& profile);
// Those of --prices, else `fallback`; every type of the cluster must have one.
PriceList read_prices(const SimulationOptions& options, const GpuCounts& cluster,
                      const PriceList& fallback);
// Of --sia: its progress by --gain, the step times of its import.
Setting sia_setting(const SimulationOptions& options, const GpuCounts& cluster, SiaImport import);
Availability availability_of(const SimulationOptions& options, const GpuCounts& cluster);

NamedResult simulate_named(const Setting& setting, const Availability& availability,
                           const std::string& policy);

// `details`, the remarks and the results on standard output, or as the options say.
void print_results(const SimulationOptions& options, const std::vector<NamedResult>& results,
                   const std::string& details);

}  // namespace jabas::sim
