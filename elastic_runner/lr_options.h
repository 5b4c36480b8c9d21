// The options of `train` that change the learning rate over the run: declared and checked.
// Errors: UsageError, one line.
#pragma once

#include "allocator/training_spec.h"

namespace CLI {
class App;
}

namespace jabas {

void declare_lr_options(CLI::App& app, TrainingSpec& spec);
// After the parsing.
void check_lr_options(const CLI::App& app, const TrainingSpec& spec);

}  // namespace jabas
