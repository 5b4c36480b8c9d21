#include "elastic_runner/gnmt_model.h"

#include <ATen/ATen.h>

#include <cmath>

#include "elastic_runner/built_in_model.h"

namespace jabas {
namespace {

constexpr float kTableBound = 0.1F;  // of the publication, for all its parameters

class Gnmt : public BuiltInModel {
 public:
  Gnmt(const EngineOptions& options, const DataShape& shape, at::ScalarType type)
      : BuiltInModel(type, options.seed),
        width_(options.size.width),
        dropout_(options.size.dropout),
        source_(add_table("source", shape.vocabulary, width_, kTableBound)),
        target_(add_table("target", shape.vocabulary, width_, kTableBound)) {
    const int layers = options.size.layers;
    for (int i = 0; i < layers; ++i)
      encoder_.push_back(add_lstm("encoder" + std::to_string(i), i == 1 ? 2 * width_ : width_,
                                  /*both_ways=*/i == 0));
    // With a single layer the two directions are brought together by the attention's keys.
    memory_width_ = layers == 1 ? 2 * width_ : width_;
    for (int i = 0; i < layers; ++i)
      decoder_.push_back(
          add_lstm("decoder" + std::to_string(i), i == 0 ? width_ : width_ + memory_width_, false));
    query_ = add_layer("attention.query", {width_, width_}, true);
    key_ = add_layer("attention.key", {width_, memory_width_}, false);
    score_ = add_layer("attention.score", {1, width_}, false);
    classifier_ = add_layer("classes", {shape.vocabulary, width_ + memory_width_}, true);
  }

  at::Tensor forward(const Batch& batch, RandomStream* stream) override {
    at::Tensor memory =
        dropout(at::embedding(parameter(source_), batch.inputs[0]), dropout_, stream);
    for (std::size_t i = 0; i < encoder_.size(); ++i)
      memory = through(memory, memory, encoder_[i], i, stream);
    const at::Tensor target =
        dropout(at::embedding(parameter(target_), batch.inputs[1]), dropout_, stream);
    at::Tensor values = through(target, target, decoder_[0], 0, stream);
    const at::Tensor context = attention(values, memory);
    for (std::size_t i = 1; i < decoder_.size(); ++i)
      values = through(at::cat({values, context}, 2), values, decoder_[i], i, stream);
    return linear(at::cat({values, context}, 2), classifier_);
  }

 private:
  struct Lstm {
    Index first;
    bool both_ways;
  };

  Lstm add_lstm(const std::string& name, std::int64_t inputs, bool both_ways) {
    const auto bound = static_cast<float>(1 / std::sqrt(static_cast<double>(width_)));
    const auto add = [&](const std::string& ending) {
      const Index first = add_uniform(name + ".weight_ih" + ending, {4 * width_, inputs}, bound);
      add_uniform(name + ".weight_hh" + ending, {4 * width_, width_}, bound);
      add_uniform(name + ".bias_ih" + ending, {4 * width_}, bound);
      add_uniform(name + ".bias_hh" + ending, {4 * width_}, bound);
      return first;
    };
    const Index first = add("");
    if (both_ways) add("_reverse");
    return {first, both_ways};
  }

  // The layer's outputs for `inputs`, plus `passed` from the third layer on.
  at::Tensor through(const at::Tensor& inputs, const at::Tensor& passed, const Lstm& lstm,
                     std::size_t layer, RandomStream* stream) const {
    const std::int64_t directions = lstm.both_ways ? 2 : 1;
    std::vector<at::Tensor> parameters;
    for (Index i = 0; i < static_cast<Index>(4 * directions); ++i)
      parameters.push_back(parameter(lstm.first + i));
    const at::Tensor start =
        at::zeros({directions, inputs.size(0), width_}, inputs.options().requires_grad(false));
    const at::Tensor outputs = std::get<0>(
        at::lstm(inputs, {start, start}, parameters, /*has_biases=*/true, /*num_layers=*/1,
                 /*dropout=*/0, /*train=*/stream != nullptr, lstm.both_ways, /*batch_first=*/true));
    const at::Tensor kept = dropout(outputs, dropout_, stream);
    return layer >= 2 ? kept + passed : kept;
  }

  at::Tensor attention(const at::Tensor& queries, const at::Tensor& memory) const {
    const at::Tensor asked = linear(queries, query_).unsqueeze(2);
    const at::Tensor keys = at::linear(memory, parameter(key_)).unsqueeze(1);
    const at::Tensor scores = at::linear(at::tanh(asked + keys), parameter(score_)).squeeze(-1);
    return at::bmm(scores.softmax(-1), memory);
  }

  const std::int64_t width_;
  const double dropout_;
  const Index source_, target_;
  std::int64_t memory_width_ = 0;
  std::vector<Lstm> encoder_, decoder_;
  Index query_ = 0, key_ = 0, score_ = 0, classifier_ = 0;
};

}  // namespace

std::unique_ptr<Model> make_gnmt(const EngineOptions& options, const DataShape& shape,
                                 at::ScalarType type) {
  return std::make_unique<Gnmt>(options, shape, type);
}

}  // namespace jabas
