// Models and data sets from shared objects (plugin.h).
// Errors: InputError names the file and the reason.
#pragma once

#include <memory>

#include "elastic_runner/batch_loader.h"
#include "elastic_runner/models.h"

namespace jabas {

std::unique_ptr<Model> make_plugin_model(const EngineOptions& options, const DataShape& shape,
                                         at::ScalarType type);
std::unique_ptr<const BatchLoader> make_plugin_loader(const EngineOptions& options,
                                                      at::ScalarType type);

}  // namespace jabas
