// The data set a training was asked for. Errors: those of the data sets.
#pragma once

#include <memory>

#include "elastic_runner/batch.h"
#include "elastic_runner/iidp_engine.h"

namespace jabas {

// Reads and checks the data set.
std::unique_ptr<const BatchLoader> make_batch_loader(const EngineOptions& options,
                                                     at::ScalarType type);

}  // namespace jabas
