// The options of `train` that say how a gradient becomes an update: declared, completed with what
// depends on the optimizer, and checked.
// Errors: UsageError, one line.
#pragma once

#include <string>

#include "allocator/training_spec.h"

namespace CLI {
class App;
}

namespace jabas {

// `betas` takes the text of --betas.
void declare_optimizer_options(CLI::App& app, TrainingSpec& spec, std::string& betas);
// After the parsing.
void resolve_optimizer(const CLI::App& app, const std::string& betas, TrainingSpec& spec);

}  // namespace jabas
