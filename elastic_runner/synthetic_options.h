// The options of `train` that say what --dataset=synthetic generates: declared, and checked where no
// other option matters. The sizes of a sample: synthetic_data.h.
// Errors: UsageError, one line.
#pragma once

#include "allocator/training_spec.h"

namespace CLI {
class App;
}

namespace jabas {

void declare_synthetic_options(CLI::App& app, TrainingSpec& spec);
// After the parsing, once spec.dataset is known.
void check_synthetic_options(const CLI::App& app, const TrainingSpec& spec);

}  // namespace jabas
