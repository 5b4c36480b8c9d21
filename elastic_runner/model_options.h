// The options of `train` that name the model and its sizes: declared, completed (the data set is by
// default what the model reads), and checked, together with whether the model can read the data
// set. Errors: UsageError, one line.
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
