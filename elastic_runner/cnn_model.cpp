#include "elastic_runner/cnn_model.h"

#include <ATen/ATen.h>

#include "elastic_runner/built_in_model.h"

namespace jabas {
namespace {

constexpr double kDropout = 0.25;

class Cnn : public BuiltInModel {
 public:
  Cnn(const EngineOptions& options, const DataShape& shape, at::ScalarType type)
      : BuiltInModel(type, options.seed),
        conv1_(add_layer("conv1", {16, shape.channels, 3, 3}, false)),
        norm1_(add_batch_norm("bn1", 16)),
        conv2_(add_layer("conv2", {32, 16, 3, 3}, false)),
        norm2_(add_batch_norm("bn2", 32)),
        linear1_(
            add_layer("fc1", {128, 32 * (shape.rows / 2 / 2) * (shape.columns / 2 / 2)}, true)),
        linear2_(add_layer("fc2", {shape.classes, 128}, true)) {}

  at::Tensor forward(const Batch& batch, RandomStream* stream) override {
    const bool training = stream != nullptr;
    const at::Tensor first = block(batch.inputs[0], conv1_, norm1_, training);
    const at::Tensor features =
        dropout(block(first, conv2_, norm2_, training).flatten(1), kDropout, stream);
    return linear(at::gelu(linear(features, linear1_)), linear2_);
  }

 private:
  at::Tensor block(const at::Tensor& values, Index conv, const BatchNorm& norm, bool training) {
    const at::Tensor convolved =
        at::conv2d(values, parameter(conv), {}, /*stride=*/1, /*padding=*/1);
    return at::avg_pool2d(at::gelu(batch_norm(convolved, norm, training)), 2);
  }

  const Index conv1_;
  const BatchNorm norm1_;
  const Index conv2_;
  const BatchNorm norm2_;
  const Index linear1_, linear2_;
};

}  // namespace

std::unique_ptr<Model> make_cnn(const EngineOptions& options, const DataShape& shape,
                                at::ScalarType type) {
  if (shape.rows < 4 || shape.columns < 4)
    refuse_data(options, shape, "images of at least 4x4 pixels");
  return std::make_unique<Cnn>(options, shape, type);
}

}  // namespace jabas
