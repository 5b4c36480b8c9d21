// The plug-in interface: a shared object that brings a model, a data set or both, for
// `jabas-run train --model ./mine.so --dataset ./mine.so --plugin-options TEXT`.
//
// The object defines jabas_plugin_version (by JABAS_PLUGIN) and at least one of the two factories.
// It is built with the compiler and the LibTorch that jabas-run was built with, against
// the headers this one includes; nothing needs to be linked. Example: docs/plugin/.
// Ownership: the caller deletes what a factory returns; the object stays loaded until the end.
// Threads: a model is built and used by one thread at a time, several models at once; a data set is
// read by several threads. Errors: a factory or a method may throw any std::exception; its text is
// shown with the object's name.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/version.h>

#include <cstdint>
#include <string>

#include "elastic_runner/batch.h"
#include "elastic_runner/model.h"

namespace jabas {

struct PluginContext {
  std::string options;  // --plugin-options, as given
  std::uint64_t seed = 0;
  at::ScalarType type = at::kFloat;  // of floating-point parameters, buffers and inputs
  std::string data_dir;              // --data-dir, absolute; "" if not given
  DataShape shape;                   // of the data set, when a model is made
};

}  // namespace jabas

// Changes with the interface and with LibTorch.
#define JABAS_PLUGIN_VERSION "1 for LibTorch " TORCH_VERSION
#define JABAS_PLUGIN                                                             \
  extern "C" const char* jabas_plugin_version() { return JABAS_PLUGIN_VERSION; } \
  static_assert(true)

extern "C" {
const char* jabas_plugin_version();
jabas::Model* jabas_make_model(const jabas::PluginContext& context);
jabas::BatchLoader* jabas_make_data(const jabas::PluginContext& context);
}
