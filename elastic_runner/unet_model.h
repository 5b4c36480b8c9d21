// The model `unet` (Ronneberger et al. 2015): per level two 3x3 convolutions with BatchNorm and
// ReLU, max-pooling down and transposed convolutions up, with as many channels again per level.
// Convolutions are padded, so that every pixel gets a class; rows and columns are multiples of
// 2^levels.
#pragma once

#include "elastic_runner/models.h"

namespace jabas {

std::unique_ptr<Model> make_unet(const EngineOptions& options, const DataShape& shape,
                                 at::ScalarType type);

}  // namespace jabas
