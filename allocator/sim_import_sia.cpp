// jabas-sim import-sia DIR -o P.json: Sia's measured placements as a profile. How well the steps of
// each file are predicted from it goes to standard error.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "allocator/sia_import.h"
#include "allocator/sim_command.h"
#include "allocator/sim_profile.h"

namespace jabas::sim {
namespace {

ExitCode import_and_write(const std::string& folder, const std::string& output) {
  const SiaImport import = import_sia(folder);
  for (const SiaFit& fit : import.fits)
    std::fprintf(stderr,
                 "%s: %zu rows, error of a predicted step: median %.1f %%, 90th percentile "
                 "%.1f %%\n",
                 fit.file.c_str(), fit.rows, 100 * fit.median_error, 100 * fit.high_error);
  write_profile(import.profile, output);
  return ExitCode::kOk;
}

}  // namespace

void add_import_sia(CLI::App& app, Run& run) {
  struct Options {
    std::string folder, output;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("import-sia", "A profile from the measurements published with Sia");
  command->add_option("DIR", options->folder, "Folder with placements-CLUSTER.csv files")
      ->required();
  command->add_option("-o,--output", options->output, "The profile to write; - prints it")
      ->required();
  command->callback([options, &run] {
    run = [options] { return import_and_write(options->folder, options->output); };
  });
}

}  // namespace jabas::sim
