// What the subcommands of jabas-sim that read a profile have in common: its option, the rules to
// predict by, and loading.
#pragma once

#include <string>

#include "allocator/profile.h"
#include "allocator/throughput_model.h"

namespace CLI {
class App;
}

namespace jabas::sim {

// --reference-rounding and --sync overlap|sequential (of the reference's weight update; without
// --reference-rounding it changes nothing). `rules` must outlive the parsing.
void add_rule_options(CLI::App& command, ModelRules* rules);

// --profile, required. `path` must outlive the parsing.
void add_profile_option(CLI::App& command, std::string* path);

// load_profile for a command.
Profile read_profile(const std::string& path);

}  // namespace jabas::sim
