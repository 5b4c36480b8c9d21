// jabas-sim merge A.json B.json [...] -o P.json: one profile with the types and points of all.
#include <CLI/CLI.hpp>
#include <memory>

#include "allocator/profile_merge.h"
#include "allocator/sim_command.h"
#include "allocator/sim_profile.h"

namespace jabas::sim {

void add_merge(CLI::App& app, Run& run) {
  struct Options {
    std::vector<std::string> inputs;
    std::string output;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("merge", "One profile with the types of several");
  command->add_option("PROFILE", options->inputs, "Profiles of the same model")->required();
  command->add_option("-o,--output", options->output, "The profile to write; - prints it")
      ->required();
  command->callback([options, &run] {
    run = [options] {
      // What is doubtful is said of the result.
      std::vector<Profile> profiles;
      for (const std::string& input : options->inputs) profiles.push_back(load_profile(input));
      write_profile(merge_profiles(std::move(profiles)), options->output);
      return ExitCode::kOk;
    };
  });
}

}  // namespace jabas::sim
