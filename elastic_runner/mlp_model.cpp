#include "elastic_runner/mlp_model.h"

#include <ATen/ATen.h>

#include <functional>
#include <numeric>

#include "elastic_runner/built_in_model.h"

namespace jabas {
namespace {

std::int64_t product(const std::vector<std::int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t numbers_in(const DataShape& shape) {
  return shape.kind == DataShape::Kind::kImages ? shape.channels * shape.rows * shape.columns
                                                : product(shape.sample);
}

class Mlp : public BuiltInModel {
 public:
  Mlp(const EngineOptions& options, const DataShape& shape, at::ScalarType type)
      : BuiltInModel(type, options.seed),
        loss_(shape.classes > 0 ? Loss::kCrossEntropy : Loss::kMeanSquare),
        linear1_(add_layer("fc1", {256, numbers_in(shape)}, true)),
        linear2_(add_layer("fc2", {128, 256}, true)),
        linear3_(add_layer("fc3", {shape.classes > 0 ? shape.classes : product(shape.target), 128},
                           true)) {}

  at::Tensor forward(const Batch& batch, RandomStream*) override {
    const at::Tensor hidden = at::gelu(linear(batch.inputs[0].flatten(1), linear1_));
    return linear(at::gelu(linear(hidden, linear2_)), linear3_);
  }
  Loss loss() const override { return loss_; }

 private:
  const Loss loss_;
  const Index linear1_, linear2_, linear3_;
};

}  // namespace

std::unique_ptr<Model> make_mlp(const EngineOptions& options, const DataShape& shape,
                                at::ScalarType type) {
  return std::make_unique<Mlp>(options, shape, type);
}

}  // namespace jabas
