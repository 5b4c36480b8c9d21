#include "elastic_runner/models.h"

#include <ATen/ATen.h>

#include "allocator/error.h"
#include "elastic_runner/built_in_model.h"
#include "elastic_runner/gpt_model.h"
#include "elastic_runner/model_file.h"
#include "elastic_runner/plugin_file.h"
#include "elastic_runner/torchscript_model.h"

namespace jabas {
namespace {

constexpr double kCnnDropout = 0.25;

class Mlp : public BuiltInModel {
 public:
  using BuiltInModel::BuiltInModel;

  at::Tensor forward(const Batch& batch, RandomStream*) override {
    const at::Tensor hidden = at::gelu(linear(batch.inputs[0].flatten(1), linear1_));
    return linear(at::gelu(linear(hidden, linear2_)), linear3_);
  }

 private:
  const Index linear1_ = add_layer("fc1", {256, 784}, true);
  const Index linear2_ = add_layer("fc2", {128, 256}, true);
  const Index linear3_ = add_layer("fc3", {10, 128}, true);
};

class Cnn : public BuiltInModel {
 public:
  using BuiltInModel::BuiltInModel;

  at::Tensor forward(const Batch& batch, RandomStream* stream) override {
    const bool training = stream != nullptr;
    const at::Tensor first = block(batch.inputs[0], conv1_, norm1_, 0, training);
    at::Tensor features = block(first, conv2_, norm2_, 3, training).flatten(1);
    if (training) features = dropout(features, kCnnDropout, *stream);
    return linear(at::gelu(linear(features, linear1_)), linear2_);
  }

 private:
  at::Tensor block(const at::Tensor& values, Index conv, Index norm, Index buffer, bool training) {
    const at::Tensor convolved =
        at::conv2d(values, parameter(conv), {}, /*stride=*/1, /*padding=*/1);
    return at::avg_pool2d(at::gelu(batch_norm(convolved, norm, buffer, training)), 2);
  }

  const Index conv1_ = add_layer("conv1", {16, 1, 3, 3}, false);
  const Index norm1_ = add_batch_norm("bn1", 16);
  const Index conv2_ = add_layer("conv2", {32, 16, 3, 3}, false);
  const Index norm2_ = add_batch_norm("bn2", 32);
  const Index linear1_ = add_layer("fc1", {128, 32 * 7 * 7}, true);
  const Index linear2_ = add_layer("fc2", {10, 128}, true);
};

}  // namespace

std::unique_ptr<Model> make_model(const EngineOptions& options, const DataShape& shape,
                                  at::ScalarType type) {
  if (is_torchscript_file(options.model)) return make_torchscript_model(options, shape, type);
  if (is_plugin_file(options.model)) return make_plugin_model(options, shape, type);
  if (options.model == "mlp") return std::make_unique<Mlp>(type, options.seed);
  if (options.model == "cnn") return std::make_unique<Cnn>(type, options.seed);
  if (options.model == "gpt") return make_gpt(options, shape, type);
  throw UsageError("--model=" + options.model + ": accepted are mlp, cnn, gpt");
}

}  // namespace jabas
