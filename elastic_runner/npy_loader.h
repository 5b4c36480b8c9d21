// Batches from NumPy arrays (npy_arrays.h). Inputs are taken as they are, nothing is normalised.
#pragma once

#include "elastic_runner/batch_loader.h"

namespace jabas {

std::unique_ptr<const BatchLoader> make_npy_loader(const EngineOptions& options,
                                                   at::ScalarType type);

}  // namespace jabas
