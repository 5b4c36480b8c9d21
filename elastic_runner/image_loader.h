// Batches of images (image_set.h), scaled to [0, 1] and normalised with the mean and deviation of
// each channel.
#pragma once

#include "elastic_runner/batch_loader.h"

namespace jabas {

std::unique_ptr<const BatchLoader> make_image_loader(const EngineOptions& options,
                                                     at::ScalarType type);

}  // namespace jabas
