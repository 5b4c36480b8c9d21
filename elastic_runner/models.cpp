#include "elastic_runner/models.h"

#include <ATen/ATen.h>

#include <array>
#include <cmath>

#include "allocator/error.h"

namespace jabas {
namespace {

constexpr std::uint64_t kInitialValues =
    0x696e6974;  // separates these streams from those of training
constexpr double kDropout = 0.25;
constexpr double kBatchNormMomentum = 0.1, kBatchNormEpsilon = 1e-5;

// Zeroes elements with probability kDropout and scales the others so that the expectation stays.
template <typename T>
void fill_dropout_mask(T* mask, std::int64_t count, RandomStream& stream) {
  constexpr auto kThreshold = static_cast<std::uint64_t>(kDropout * 65536);
  constexpr auto kKept = static_cast<T>(1 / (1 - kDropout));
  std::uint64_t bits = 0;
  for (std::int64_t i = 0; i < count; ++i, bits >>= 16) {
    if (i % 4 == 0) bits = stream.next();
    mask[i] = (bits & 0xffff) < kThreshold ? T{0} : kKept;
  }
}

at::Tensor dropout(const at::Tensor& values, RandomStream& stream) {
  const at::Tensor mask = at::empty(values.sizes(), values.options().requires_grad(false));
  if (values.scalar_type() == at::kDouble)
    fill_dropout_mask(mask.data_ptr<double>(), mask.numel(), stream);
  else
    fill_dropout_mask(mask.data_ptr<float>(), mask.numel(), stream);
  return values * mask;
}

class BuiltInModel : public Model {
 public:
  BuiltInModel(at::ScalarType type, std::uint64_t seed) : type_(type), seed_(seed) {}
  std::vector<NamedTensor>& parameters() override { return parameters_; }
  std::vector<NamedTensor>& buffers() override { return buffers_; }

 protected:
  using Index = std::size_t;
  // Weight first, then, if there is one, the bias. Uniform in +-1/sqrt(fan-in), as torch::nn layers
  // start.
  Index add_layer(const std::string& name, const std::vector<std::int64_t>& shape, bool bias) {
    std::int64_t fan_in = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) fan_in *= shape[i];
    const auto bound = static_cast<float>(1 / std::sqrt(static_cast<double>(fan_in)));
    const Index index = add_parameter(name + ".weight", uniform(shape, bound));
    if (bias) add_parameter(name + ".bias", uniform({shape[0]}, bound));
    return index;
  }

  Index add_batch_norm(const std::string& name, std::int64_t channels) {
    const Index index = add_parameter(name + ".weight", at::ones({channels}));
    add_parameter(name + ".bias", at::zeros({channels}));
    buffers_.push_back({name + ".running_mean", at::zeros({channels}, type_)});
    buffers_.push_back({name + ".running_var", at::ones({channels}, type_)});
    buffers_.push_back({name + ".num_batches_tracked", at::zeros({}, at::kLong)});
    return index;
  }

  const at::Tensor& parameter(Index index) const { return parameters_[index].tensor; }

  at::Tensor linear(const at::Tensor& values, Index layer) const {
    return at::linear(values, parameter(layer), parameter(layer + 1));
  }

  at::Tensor batch_norm(const at::Tensor& values, Index layer, Index buffer, bool training) {
    if (training) buffers_[buffer + 2].tensor += 1;
    return at::batch_norm(values, parameter(layer), parameter(layer + 1), buffers_[buffer].tensor,
                          buffers_[buffer + 1].tensor, training, kBatchNormMomentum,
                          kBatchNormEpsilon,
                          /*cudnn_enabled=*/false);
  }

 private:
  Index add_parameter(const std::string& name, const at::Tensor& values) {
    parameters_.push_back({name, values.to(type_).requires_grad_(true)});
    return parameters_.size() - 1;
  }

  // Drawn in float for both precisions.
  at::Tensor uniform(const std::vector<std::int64_t>& shape, float bound) const {
    const at::Tensor values = at::empty(shape, at::kFloat);
    RandomStream stream({seed_, kInitialValues, parameters_.size()});
    float* out = values.data_ptr<float>();
    for (std::int64_t i = 0; i < values.numel(); ++i) out[i] = bound * (2 * stream.uniform() - 1);
    return values;
  }

  const at::ScalarType type_;
  const std::uint64_t seed_;
  std::vector<NamedTensor> parameters_, buffers_;
};

class Mlp : public BuiltInModel {
 public:
  using BuiltInModel::BuiltInModel;

  at::Tensor forward(const at::Tensor& images, RandomStream*) override {
    const at::Tensor hidden = at::gelu(linear(images.flatten(1), linear1_));
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

  at::Tensor forward(const at::Tensor& images, RandomStream* stream) override {
    const bool training = stream != nullptr;
    const at::Tensor first = block(images, conv1_, norm1_, 0, training);
    at::Tensor features = block(first, conv2_, norm2_, 3, training).flatten(1);
    if (training) features = dropout(features, *stream);
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

std::unique_ptr<Model> make_model(const std::string& name, at::ScalarType type,
                                  std::uint64_t seed) {
  if (name == "mlp") return std::make_unique<Mlp>(type, seed);
  if (name == "cnn") return std::make_unique<Cnn>(type, seed);
  throw UsageError("--model=" + name + ": accepted are mlp, cnn");
}

}  // namespace jabas
