// A network as the engine trains it, and the built-in ones by name (model_catalogue.h; each in a
// file of its own).
//
// Ownership: a model owns its tensors; the engine redirects the parameters' storage into its flat
// buffer. Threads: one model per thread.   Errors: UsageError for an unknown name or for a model
// that cannot be built for the data: the model, what it reads and what the data set has.
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
