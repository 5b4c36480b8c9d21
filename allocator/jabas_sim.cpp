// jabas-sim: the policy of the daemon on data from files, to plan before submitting and to ask why
// afterwards. Exit codes: allocator/error.h.
#include <CLI/CLI.hpp>
#include <iostream>

#include "allocator/sim_command.h"

int main(int argc, char** argv) {
  CLI::App app{"The allocation policy of JABAS on data from files", "jabas-sim"};
  app.require_subcommand(1);
  jabas::sim::Run run;
  jabas::sim::add_decide(app, run);
  jabas::sim::add_forecast(app, run);
  jabas::sim::add_iter_time(app, run);
  jabas::sim::add_solve(app, run);
  jabas::sim::add_import(app, run);
  jabas::sim::add_import_sia(app, run);
  jabas::sim::add_merge(app, run);
  jabas::sim::add_plan(app, run);
  jabas::sim::add_run(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::cerr << "jabas-sim: " << error.what() << "; see jabas-sim --help\n";
    return int(jabas::ExitCode::kUsage);
  }
  try {
    return int(run());
  } catch (const jabas::Error& error) {
    std::cerr << "jabas-sim: " << error.what() << "\n";
    return int(error.code());
  }
}
