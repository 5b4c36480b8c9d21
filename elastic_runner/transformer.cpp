#include "elastic_runner/transformer.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "allocator/error.h"

namespace jabas {

Transformer::Transformer(const EngineOptions& options, at::ScalarType type)
    : BuiltInModel(type, options.seed),
      width_(options.size.width),
      dropout_(options.size.dropout),
      count_(options.size.layers),
      heads_(options.size.heads) {
  JABAS_ASSERT(count_ >= 1 && heads_ >= 1 && width_ >= 1 && width_ % heads_ == 0 && dropout_ >= 0,
               "size of a transformer");
}

void Transformer::add_layers() {
  // What the layers add shall not grow with their number.
  const auto scale = static_cast<float>(1 / std::sqrt(2.0 * count_));
  for (int i = 0; i < count_; ++i) {
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

at::Tensor Transformer::through_layers(at::Tensor values, const at::Tensor& hidden,
                                       RandomStream* stream) const {
  for (const Layer& layer : layers_) {
    values = values +
             dropout(attention(layer_norm(values, layer.norm1), hidden, layer), dropout_, stream);
    const at::Tensor wide = at::gelu(linear(layer_norm(values, layer.norm2), layer.fc1));
    values = values + dropout(linear(wide, layer.fc2), dropout_, stream);
  }
  return layer_norm(values, norm_);
}

at::Tensor Transformer::attention(const at::Tensor& values, const at::Tensor& hidden,
                                  const Layer& layer) const {
  const std::int64_t count = values.size(0), length = values.size(1), depth = width_ / heads_;
  const at::Tensor qkv =
      linear(values, layer.qkv).view({count, length, 3, heads_, depth}).permute({2, 0, 3, 1, 4});
  at::Tensor scores =
      at::matmul(qkv[0], qkv[1].transpose(-2, -1)) / std::sqrt(static_cast<double>(depth));
  if (hidden.defined())
    scores = scores.masked_fill(hidden, -std::numeric_limits<double>::infinity());
  return linear(
      at::matmul(scores.softmax(-1), qkv[2]).transpose(1, 2).reshape({count, length, width_}),
      layer.projection);
}

}  // namespace jabas
