#include "elastic_runner/gpt_model.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "allocator/error.h"
#include "elastic_runner/built_in_model.h"

namespace jabas {
namespace {

constexpr float kTableBound = 0.035F;  // deviation 0.02

class Gpt : public BuiltInModel {
 public:
  Gpt(const EngineOptions& options, const DataShape& shape, at::ScalarType type)
      : BuiltInModel(type, options.seed),
        heads_(options.size.heads),
        width_(options.size.width),
        dropout_(options.size.dropout),
        tokens_(add_table("tokens", shape.vocabulary, width_, kTableBound)),
        positions_(add_table("positions", shape.length, width_, kTableBound)),
        later_(at::ones({shape.length, shape.length}, at::kBool).triu(1)) {
    // What the layers add shall not grow with their number.
    const auto scale = static_cast<float>(1 / std::sqrt(2.0 * options.size.layers));
    for (int i = 0; i < options.size.layers; ++i) {
      const std::string name = "layer" + std::to_string(i) + ".";
      layers_.push_back({add_layer_norm(name + "norm1", width_),
                         add_layer(name + "qkv", {3 * width_, width_}, true),
                         add_layer(name + "projection", {width_, width_}, true, scale),
                         add_layer_norm(name + "norm2", width_),
                         add_layer(name + "fc1", {4 * width_, width_}, true),
                         add_layer(name + "fc2", {width_, 4 * width_}, true, scale)});
    }
    norm_ = add_layer_norm("norm", width_);
  }

  at::Tensor forward(const Batch& batch, RandomStream* stream) override {
    const auto dropped = [&](const at::Tensor& values) {
      return stream != nullptr && dropout_ > 0 ? dropout(values, dropout_, *stream) : values;
    };
    at::Tensor values =
        dropped(at::embedding(parameter(tokens_), batch.inputs[0]) + parameter(positions_));
    for (const Layer& layer : layers_) {
      values = values + dropped(attention(layer_norm(values, layer.norm1), layer));
      const at::Tensor hidden = at::gelu(linear(layer_norm(values, layer.norm2), layer.fc1));
      values = values + dropped(linear(hidden, layer.fc2));
    }
    return at::linear(layer_norm(values, norm_), parameter(tokens_));
  }

 private:
  struct Layer {
    Index norm1, qkv, projection, norm2, fc1, fc2;
  };

  at::Tensor attention(const at::Tensor& values, const Layer& layer) const {
    const std::int64_t count = values.size(0), length = values.size(1), depth = width_ / heads_;
    const at::Tensor qkv =
        linear(values, layer.qkv).view({count, length, 3, heads_, depth}).permute({2, 0, 3, 1, 4});
    const at::Tensor scores =
        at::matmul(qkv[0], qkv[1].transpose(-2, -1)) / std::sqrt(static_cast<double>(depth));
    const at::Tensor weights =
        scores.masked_fill(later_, -std::numeric_limits<double>::infinity()).softmax(-1);
    return linear(at::matmul(weights, qkv[2]).transpose(1, 2).reshape({count, length, width_}),
                  layer.projection);
  }

  const std::int64_t heads_, width_;
  const double dropout_;
  const Index tokens_, positions_;
  const at::Tensor later_;  // true where a position would see a later one
  std::vector<Layer> layers_;
  Index norm_ = 0;
};

}  // namespace

std::unique_ptr<Model> make_gpt(const EngineOptions& options, const DataShape& shape,
                                at::ScalarType type) {
  const ModelSize& size = options.size;
  JABAS_ASSERT(
      size.layers >= 1 && size.heads >= 1 && size.width % size.heads == 0 && shape.length >= 1,
      "size of gpt");
  return std::make_unique<Gpt>(options, shape, type);
}

}  // namespace jabas
