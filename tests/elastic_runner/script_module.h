// TorchScript files for tests, written here without Python.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>

#include "elastic_runner/random_stream.h"

namespace jabas::testing {

// A small network over 28x28 images: BatchNorm, dropout 0.5, two linear layers whose activation is
// smooth. `body` replaces its forward.
inline torch::jit::Module script_module(const std::string& body = R"(
def forward(self, x):
    y = torch.batch_norm(torch.flatten(x, 1), self.scale, self.shift, self.running_mean,
                         self.running_var, self.training, 0.1, 1e-5, False)
    y = torch.tanh(torch.matmul(y, self.weight1.t()))
    y = torch.dropout(y, 0.5, self.training)
    return torch.matmul(y, self.weight2.t())
)") {
  torch::jit::Module module("Small");
  RandomStream random({7});
  const auto values = [&](std::vector<std::int64_t> sizes, double factor) {
    at::Tensor tensor = at::empty(sizes, at::kFloat);
    float* out = tensor.data_ptr<float>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      out[i] = static_cast<float>(factor) * (random.uniform() - 0.5F);
    return tensor;
  };
  const auto parameter = [&](const std::string& name, const at::Tensor& tensor) {
    module.register_parameter(name, tensor.requires_grad_(true), /*is_buffer=*/false);
  };
  parameter("scale", at::ones({784}));
  parameter("shift", at::zeros({784}));
  parameter("weight1", values({32, 784}, 0.1));
  parameter("weight2", values({10, 32}, 0.4));
  module.register_buffer("running_mean", at::zeros({784}));
  module.register_buffer("running_var", at::ones({784}));
  if (body.find("self.tied") != std::string::npos)  // as weight1
    module.register_parameter("tied", module.attr("weight1").toTensor(), false);
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define(body);
  return module;
}

}  // namespace jabas::testing
