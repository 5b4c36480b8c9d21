// jabas-sim import DIR -o P.json [--name SERVER=TYPE[,…]]: the reference's profile folders as a
// profile.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "allocator/profile_import.h"
#include "allocator/sim_command.h"
#include "allocator/sim_profile.h"

namespace jabas::sim {
namespace {

// As Slurm's GRES types, which they will be looked up by.
bool is_type(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  });
}

std::map<std::string, std::string> parse_names(const std::vector<std::string>& names) {
  std::map<std::string, std::string> type_of_server;
  for (const std::string& name : names) {
    const std::size_t equals = name.find('=');
    if (equals == std::string::npos || equals == 0 || !is_type(name.substr(equals + 1)))
      throw UsageError("--name " + name +
                       ": must be SERVER=TYPE, such as node0=v100, TYPE of "
                       "letters, digits, '_', '.' and '-'");
    if (!type_of_server.emplace(name.substr(0, equals), name.substr(equals + 1)).second)
      throw UsageError("--name " + name + ": the server " + name.substr(0, equals) +
                       " is named twice");
  }
  return type_of_server;
}

}  // namespace

void add_import(CLI::App& app, Run& run) {
  struct Options {
    std::string folder, output;
    std::vector<std::string> names;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("import", "A profile from the reference's profile folders");
  command->add_option("DIR", options->folder, "Folder with cluster_info.json and *_data folders")
      ->required();
  command->add_option("-o,--output", options->output, "The profile to write; - prints it")
      ->required();
  command
      ->add_option("--name", options->names,
                   "SERVER=TYPE[,...]: the GPU type of a server, otherwise the server's name")
      ->delimiter(',');
  command->callback([options, &run] {
    run = [options] {
      write_profile(import_profile(options->folder, parse_names(options->names)), options->output);
      return ExitCode::kOk;
    };
  });
}

}  // namespace jabas::sim
