// Batches of images held in memory (datasets.h), scaled to [0, 1] and normalised with the data
// set's mean and deviation.
#pragma once

#include "elastic_runner/batch_loader.h"

namespace jabas {

std::unique_ptr<const BatchLoader> make_image_loader(const EngineOptions& options,
                                                     at::ScalarType type);

}  // namespace jabas
