// The model `gpt`: a decoder-only transformer (transformer.h) over tokens, with learned positions
// (Radford et al. 2019). The table of the tokens is also the output layer.
#pragma once

#include "elastic_runner/models.h"

namespace jabas {

std::unique_ptr<Model> make_gpt(const EngineOptions& options, const DataShape& shape,
                                at::ScalarType type);

}  // namespace jabas
