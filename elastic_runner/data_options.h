// The options of `train` that name the data set and how it is read: declared, completed (readers),
// and checked on their own. Whether the model can read it: model_options.h.
// Errors: UsageError, one line.
#pragma once

#include "allocator/training_spec.h"

namespace CLI {
class App;
}

namespace jabas {

void declare_data_options(CLI::App& app, TrainingSpec& spec);
// After the parsing, once spec.dataset is known.
void check_data_options(const CLI::App& app, TrainingSpec& spec);

}  // namespace jabas
