// A network that is trained: its tensors, and what it makes of a batch.
//
// Ownership: a model owns its tensors; the engine redirects the parameters' storage into its flat
// buffer. Threads: one model per thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "elastic_runner/batch.h"
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

}  // namespace jabas
