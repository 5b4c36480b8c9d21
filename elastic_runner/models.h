// The built-in networks: mlp (784-256-128-10), cnn (two blocks conv-BatchNorm-GELU-average pool,
// dropout, two linear layers) and gpt (gpt_model.h). Smooth activations and average pooling only,
// so that placement invariance holds (shared design "model" 1).
//
// Ownership: a model owns its tensors; the engine redirects the parameters' storage into its flat
// buffer. Threads: one model per thread.   Errors: UsageError for an unknown name or
// for a model that cannot be built for the data.
#pragma once

#include <memory>

#include "elastic_runner/data_shape.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/model.h"

namespace jabas {

// Initial values are a function of (name, size, seed) alone, the same in both precisions up to
// rounding.
std::unique_ptr<Model> make_model(const EngineOptions& options, const DataShape& shape,
                                  at::ScalarType type);

}  // namespace jabas
