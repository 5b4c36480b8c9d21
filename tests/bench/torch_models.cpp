#include "tests/bench/torch_models.h"

#include <cmath>
#include <limits>

#include "allocator/error.h"

namespace jabas::bench {
namespace {

namespace nn = torch::nn;

class TorchMlp : public TorchModel {
 public:
  torch::Tensor forward(const torch::Tensor& inputs) override {
    return fc3_(torch::gelu(fc2_(torch::gelu(fc1_(inputs.flatten(1))))));
  }

 private:
  nn::Linear fc1_ = register_module("fc1", nn::Linear(784, 256));
  nn::Linear fc2_ = register_module("fc2", nn::Linear(256, 128));
  nn::Linear fc3_ = register_module("fc3", nn::Linear(128, 10));
};

class TorchCnn : public TorchModel {
 public:
  torch::Tensor forward(const torch::Tensor& inputs) override {
    const auto first = torch::avg_pool2d(torch::gelu(norm1_(conv1_(inputs))), 2);
    const auto second = torch::avg_pool2d(torch::gelu(norm2_(conv2_(first))), 2);
    return fc2_(torch::gelu(fc1_(dropout_(second.flatten(1)))));
  }

 private:
  static nn::Conv2d convolution(std::int64_t from, std::int64_t to) {
    return nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1).bias(false));
  }

  nn::Conv2d conv1_ = register_module("conv1", convolution(1, 16));
  nn::BatchNorm2d norm1_ = register_module("bn1", nn::BatchNorm2d(16));
  nn::Conv2d conv2_ = register_module("conv2", convolution(16, 32));
  nn::BatchNorm2d norm2_ = register_module("bn2", nn::BatchNorm2d(32));
  nn::Dropout dropout_ = register_module("dropout", nn::Dropout(0.25));
  nn::Linear fc1_ = register_module("fc1", nn::Linear(32 * 7 * 7, 128));
  nn::Linear fc2_ = register_module("fc2", nn::Linear(128, 10));
};

class TorchGptLayer : public nn::Module {
 public:
  TorchGptLayer(std::int64_t width, std::int64_t heads, std::int64_t length, double dropout)
      : heads_(heads),
        norm1_(register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({width})))),
        qkv_(register_module("qkv", nn::Linear(width, 3 * width))),
        projection_(register_module("projection", nn::Linear(width, width))),
        norm2_(register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({width})))),
        fc1_(register_module("fc1", nn::Linear(width, 4 * width))),
        fc2_(register_module("fc2", nn::Linear(4 * width, width))),
        dropout_(register_module("dropout", nn::Dropout(dropout))),
        later_(torch::ones({length, length}, torch::kBool).triu(1)) {}

  torch::Tensor forward(torch::Tensor values) {
    values = values + dropout_(projection_(attention(norm1_(values))));
    return values + dropout_(fc2_(torch::gelu(fc1_(norm2_(values)))));
  }

 private:
  torch::Tensor attention(const torch::Tensor& values) {
    const std::int64_t count = values.size(0), length = values.size(1), width = values.size(2);
    const auto parts =
        qkv_(values).view({count, length, 3, heads_, width / heads_}).permute({2, 0, 3, 1, 4});
    const auto scores = torch::matmul(parts[0], parts[1].transpose(-2, -1)) /
                        std::sqrt(static_cast<double>(width / heads_));
    const auto weights =
        scores.masked_fill(later_, -std::numeric_limits<double>::infinity()).softmax(-1);
    return torch::matmul(weights, parts[2]).transpose(1, 2).reshape({count, length, width});
  }

  const std::int64_t heads_;
  nn::LayerNorm norm1_;
  nn::Linear qkv_, projection_;
  nn::LayerNorm norm2_;
  nn::Linear fc1_, fc2_;
  nn::Dropout dropout_;
  const torch::Tensor later_;
};

class TorchGpt : public TorchModel {
 public:
  explicit TorchGpt(const EngineOptions& options)
      : tokens_(register_module("tokens", nn::Embedding(256, options.size.width))),
        positions_(register_parameter(
            "positions", torch::randn({options.sequence_length, options.size.width}) * 0.02)),
        dropout_(register_module("dropout", nn::Dropout(options.size.dropout))),
        layers_(register_module("layers", nn::ModuleList())),
        norm_(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({options.size.width})))) {
    torch::nn::init::normal_(tokens_->weight, 0, 0.02);
    for (int i = 0; i < options.size.layers; ++i)
      layers_->push_back(std::make_shared<TorchGptLayer>(
          options.size.width, options.size.heads, options.sequence_length, options.size.dropout));
  }

  torch::Tensor forward(const torch::Tensor& inputs) override {
    torch::Tensor values = dropout_(tokens_(inputs) + positions_);
    for (const auto& layer : *layers_) values = layer->as<TorchGptLayer>()->forward(values);
    return torch::linear(norm_(values), tokens_->weight);
  }

 private:
  nn::Embedding tokens_;
  torch::Tensor positions_;
  nn::Dropout dropout_;
  nn::ModuleList layers_;
  nn::LayerNorm norm_;
};

}  // namespace

std::shared_ptr<TorchModel> make_torch_model(const EngineOptions& options) {
  if (options.model == "mlp") return std::make_shared<TorchMlp>();
  if (options.model == "cnn") return std::make_shared<TorchCnn>();
  if (options.model == "gpt") return std::make_shared<TorchGpt>(options);
  throw UsageError("no hand-written model " + options.model);
}

}  // namespace jabas::bench
