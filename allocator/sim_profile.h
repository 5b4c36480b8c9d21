// Profiles on the command line of jabas-sim: the options of every command that reads one, and what
// is doubtful in one, said on standard error.
#pragma once

#include <string>

#include "allocator/profile.h"
#include "allocator/throughput_model.h"

namespace CLI {
class App;
}

namespace jabas::sim {

// --profile, required. `path` must outlive the parsing.
void add_profile_option(CLI::App& command, std::string* path);
// --reference-rounding and --sync overlap|sequential (of the reference's weight update; without
// --reference-rounding it changes nothing). `rules` must outlive the parsing.
void add_rule_options(CLI::App& command, ModelRules* rules);

void print_warnings(const Profile& profile);
// Loads it and prints its warnings.
Profile read_profile(const std::string& path);
// Prints its warnings and writes it; "-" is standard output.
void write_profile(const Profile& profile, const std::string& path);

}  // namespace jabas::sim
