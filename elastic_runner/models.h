// The built-in networks: mlp (784-256-128-10), cnn (two blocks conv-BatchNorm-GELU-average pool,
// dropout, two linear layers) and gpt (gpt_model.h). Smooth activations and average pooling only,
// so that placement invariance holds (shared design "model" 1).
//
// Ownership: a model owns its tensors; the engine redirects the parameters' storage into its flat
// buffer. Threads: one model per thread.   Errors: UsageError for an unknown name or
// for a model that cannot be built for the data.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "elastic_runner/batch_loader.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/loss.h"
#include "elastic_runner/random_stream.h"

namespace jabas {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

class Model {
 public:
  virtual ~Model() = default;
  // What loss() takes as output for the batch's inputs (data_shape.h). With `dropout` in training
  // mode: draws from it, uses the batch's statistics and updates the buffers. Without: evaluation.
  virtual at::Tensor forward(const Batch& batch, RandomStream* dropout) = 0;
  virtual Loss loss() const { return Loss::kCrossEntropy; }
  // In registration order; parameters are leaves that require gradients, buffers never do.
  virtual std::vector<NamedTensor>& parameters() = 0;
  virtual std::vector<NamedTensor>& buffers() = 0;
};

// Initial values are a function of (name, size, seed) alone, the same in both precisions up to
// rounding.
std::unique_ptr<Model> make_model(const EngineOptions& options, const DataShape& shape,
                                  at::ScalarType type);

}  // namespace jabas
