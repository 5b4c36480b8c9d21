// The model `mlp`: three linear layers with GELU between them, over all numbers of an image or
// array; to a class, or, where the data set has numbers, to those with the mean square loss.
#pragma once

#include "elastic_runner/models.h"

namespace jabas {

std::unique_ptr<Model> make_mlp(const EngineOptions& options, const DataShape& shape,
                                at::ScalarType type);

}  // namespace jabas
