// Whether a training can be built here, before anything is started: reads the data set's files and
// makes the model for it, once.
// Errors: InputError names file and reason, UsageError the option.
#pragma once

#include <cstdint>

#include "elastic_runner/iidp_engine.h"

namespace jabas {

// Returns the size of the training set.
std::int64_t check_training(const EngineOptions& options);

}  // namespace jabas
