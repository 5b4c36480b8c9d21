#include "allocator/sim_profile.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "allocator/text_file.h"

namespace jabas::sim {

void add_profile_option(CLI::App& command, std::string* path) {
  command.add_option("--profile", *path, "JSON file with the times of each GPU type")->required();
}

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

void print_warnings(const Profile& profile) {
  for (const std::string& warning : profile_warnings(profile))
    std::cerr << "jabas-sim: warning: " << warning << "\n";
}

Profile read_profile(const std::string& path) {
  Profile profile = load_profile(path);
  print_warnings(profile);
  return profile;
}

void write_profile(const Profile& profile, const std::string& path) {
  print_warnings(profile);
  write_text_file(path, to_json_text(profile) + "\n", "the profile");
}

}  // namespace jabas::sim
