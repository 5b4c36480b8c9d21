// The built-in mlp, cnn and gpt as one writes them by hand with torch::nn, for a loop with
// torch::optim beside the engine. Parameters have the engine's order and sizes.
#pragma once

#include <torch/torch.h>

#include <memory>

#include "elastic_runner/iidp_engine.h"

namespace jabas::bench {

class TorchModel : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(const torch::Tensor& inputs) = 0;
};

std::shared_ptr<TorchModel> make_torch_model(const EngineOptions& options);

}  // namespace jabas::bench
