// The model `gpt`: a decoder-only transformer over bytes (layers of LayerNorm, causal attention and
// a GELU network four times as wide, dropout on what each adds; Radford et al. 2019). The
// table of the bytes is also the output layer.
#pragma once

#include "elastic_runner/models.h"

namespace jabas {

std::unique_ptr<Model> make_gpt(const EngineOptions& options, at::ScalarType type);

}  // namespace jabas
