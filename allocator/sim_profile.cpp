#include "allocator/sim_profile.h"

#include <CLI/CLI.hpp>

namespace jabas::sim {

void add_rule_options(CLI::App& command, ModelRules* rules) {
  command.add_flag(
      "--reference-rounding", rules->reference,
      "Predict by all rules of the paper's reference implementation, roundings included");
  command
      .add_option_function<std::string>(
          "--sync", [rules](const std::string& sync) { rules->sequential = sync == "sequential"; },
          "The reference's weight update: overlap (default) or sequential")
      ->check(CLI::IsMember({"overlap", "sequential"}));
}

void add_profile_option(CLI::App& command, std::string* path) {
  command.add_option("--profile", *path, "JSON file with the times of each GPU type")->required();
}

Profile read_profile(const std::string& path) { return load_profile(path); }

}  // namespace jabas::sim
