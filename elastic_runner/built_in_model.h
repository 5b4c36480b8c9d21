// What the built-in networks share: their parameters with initial values, and layers on them.
// Randomness comes from the step's stream alone, never from LibTorch's generators.
#pragma once

#include "elastic_runner/models.h"

namespace jabas {

class BuiltInModel : public Model {
 public:
  BuiltInModel(at::ScalarType type, std::uint64_t seed) : type_(type), seed_(seed) {}
  std::vector<NamedTensor>& parameters() override { return parameters_; }
  std::vector<NamedTensor>& buffers() override { return buffers_; }

 protected:
  using Index = std::size_t;
  // Weight first, then, if there is one, the bias. Uniform in ±1/√(fan-in), as torch::nn layers
  // start; `scale` makes the weight smaller.
  Index add_layer(const std::string& name, const std::vector<std::int64_t>& shape, bool bias,
                  float scale = 1);
  // Uniform in ±bound; the first with the name as it is.
  Index add_uniform(const std::string& name, const std::vector<std::int64_t>& shape, float bound);
  Index add_table(const std::string& name, std::int64_t rows, std::int64_t width, float bound);
  struct BatchNorm {
    Index weight = 0, buffer = 0;
  };
  // `weight`: of every channel.
  BatchNorm add_batch_norm(const std::string& name, std::int64_t channels, double weight = 1);
  Index add_layer_norm(const std::string& name, std::int64_t width);

  const at::Tensor& parameter(Index index) const { return parameters_[index].tensor; }

  at::Tensor linear(const at::Tensor& values, Index layer) const;
  at::Tensor layer_norm(const at::Tensor& values, Index layer) const;
  // A convolution, padded so that only the stride makes the image smaller, without bias, and the
  // BatchNorm behind it; weights of variance 2 / fan-in, for ReLU (He et al. 2015).
  struct ConvNorm {
    Index weight = 0;
    BatchNorm norm;
  };
  ConvNorm add_conv_norm(const std::string& conv, const std::string& norm, std::int64_t outputs,
                         std::int64_t inputs, std::int64_t kernel, double norm_weight = 1);
  at::Tensor conv_norm(const at::Tensor& values, const ConvNorm& layer, std::int64_t stride,
                       bool training);
  at::Tensor batch_norm(const at::Tensor& values, const BatchNorm& norm, bool training);

 private:
  Index add_norm(const std::string& name, std::int64_t width, double weight);
  Index add_parameter(const std::string& name, const at::Tensor& values);
  at::Tensor uniform(const std::vector<std::int64_t>& shape, float bound) const;

  const at::ScalarType type_;
  const std::uint64_t seed_;
  std::vector<NamedTensor> parameters_, buffers_;
};

// UsageError: the model cannot be built for the data; `needs` is what it reads, in words.
[[noreturn]] void refuse_data(const EngineOptions& options, const DataShape& shape,
                              const std::string& needs);

// Zeroes elements with that probability and scales the others so that the expectation stays.
// Without a stream, that is in evaluation, it changes nothing.
at::Tensor dropout(const at::Tensor& values, double probability, RandomStream* stream);

}  // namespace jabas
