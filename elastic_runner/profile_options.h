// The command line of `jabas-run profile`: its own options, and those of `train` that name model,
// data, precision and optimizer.
// Pure.   Errors: UsageError, one line. HelpRequested carries the text of --help.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocator/training_spec.h"

namespace jabas {

struct ProfileCommand {
  TrainingSpec spec;
  std::string gpu_type, output;
  std::vector<std::int64_t> batches;  // ascending; empty = around --local-batch
  int max_streams = 4, repeats = 5, gpus_per_node = 1;
};

ProfileCommand parse_profile_arguments(const std::vector<std::string>& arguments);

}  // namespace jabas
