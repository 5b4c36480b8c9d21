// The model `cnn`: two blocks of convolution, BatchNorm, GELU and average pooling, dropout, two
// linear layers; images of at least 4 by 4 pixels.
#pragma once

#include "elastic_runner/models.h"

namespace jabas {

std::unique_ptr<Model> make_cnn(const EngineOptions& options, const DataShape& shape,
                                at::ScalarType type);

}  // namespace jabas
