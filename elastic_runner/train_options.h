// The command line of `jabas-run train`: parsing and every check that needs no file.
// Pure.
// Errors: UsageError, one line: option, value, what is accepted. HelpRequested carries the text of
//         --help.
#pragma once

#include <string>
#include <vector>

#include "allocator/training_spec.h"
#include "elastic_runner/option_checks.h"

namespace jabas {

struct TrainCommand {
  TrainingSpec spec;                   // paths absolute; batch fields as given, see resolve_batch
  bool local = false;                  // --local
  std::string profile;                 // --profile, absolute; only with --local
  bool resume = false;                 // --resume, with or without a directory
  std::vector<std::string> arguments;  // as given, without "train"
};

TrainCommand parse_train_arguments(const std::vector<std::string>& arguments);

}  // namespace jabas
