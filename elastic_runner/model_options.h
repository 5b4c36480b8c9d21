// The options of `train` that name model and data set: declared, completed with what depends on the
// model, and checked.
// Errors: UsageError, one line.
#pragma once

#include "allocator/training_spec.h"

namespace CLI {
class App;
}

namespace jabas {

void declare_model_options(CLI::App& app, TrainingSpec& spec);
// After the parsing.
void resolve_model(const CLI::App& app, TrainingSpec& spec);

}  // namespace jabas
