#include "elastic_runner/built_in_model.h"

#include <ATen/ATen.h>

#include <cmath>

#include "allocator/error.h"

namespace jabas {
namespace {

constexpr std::uint64_t kInitialValues =
    0x696e6974;  // separates these streams from those of training
constexpr double kBatchNormMomentum = 0.1, kNormEpsilon = 1e-5;

template <typename T>
void fill_dropout_mask(T* mask, std::int64_t count, double probability, RandomStream& stream) {
  const auto threshold = static_cast<std::uint64_t>(probability * 65536);
  const auto kept = static_cast<T>(1 / (1 - static_cast<double>(threshold) / 65536));
  std::uint64_t bits = 0;
  for (std::int64_t i = 0; i < count; ++i, bits >>= 16) {
    if (i % 4 == 0) bits = stream.next();
    mask[i] = (bits & 0xffff) < threshold ? T{0} : kept;
  }
}

}  // namespace

void refuse_data(const EngineOptions& options, const DataShape& shape, const std::string& needs) {
  throw UsageError("--model=" + options.model + ": reads " + needs + "; data set " +
                   options.dataset + " has " + to_text(shape));
}

at::Tensor dropout(const at::Tensor& values, double probability, RandomStream* stream) {
  if (stream == nullptr || probability <= 0) return values;
  const at::Tensor mask = at::empty(values.sizes(), values.options().requires_grad(false));
  if (values.scalar_type() == at::kDouble)
    fill_dropout_mask(mask.data_ptr<double>(), mask.numel(), probability, *stream);
  else
    fill_dropout_mask(mask.data_ptr<float>(), mask.numel(), probability, *stream);
  return values * mask;
}

BuiltInModel::Index BuiltInModel::add_layer(const std::string& name,
                                            const std::vector<std::int64_t>& shape, bool bias,
                                            float scale) {
  std::int64_t fan_in = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) fan_in *= shape[i];
  const auto bound = static_cast<float>(1 / std::sqrt(static_cast<double>(fan_in)));
  const Index index = add_uniform(name + ".weight", shape, bound * scale);
  if (bias) add_uniform(name + ".bias", {shape[0]}, bound);
  return index;
}

BuiltInModel::Index BuiltInModel::add_uniform(const std::string& name,
                                              const std::vector<std::int64_t>& shape, float bound) {
  return add_parameter(name, uniform(shape, bound));
}

BuiltInModel::Index BuiltInModel::add_table(const std::string& name, std::int64_t rows,
                                            std::int64_t width, float bound) {
  return add_uniform(name + ".weight", {rows, width}, bound);
}

BuiltInModel::Index BuiltInModel::add_layer_norm(const std::string& name, std::int64_t width) {
  return add_norm(name, width, 1);
}

BuiltInModel::Index BuiltInModel::add_norm(const std::string& name, std::int64_t width,
                                           double weight) {
  const Index index = add_parameter(name + ".weight", at::full({width}, weight));
  add_parameter(name + ".bias", at::zeros({width}));
  return index;
}

BuiltInModel::BatchNorm BuiltInModel::add_batch_norm(const std::string& name, std::int64_t channels,
                                                     double weight) {
  const BatchNorm norm{add_norm(name, channels, weight), buffers_.size()};
  buffers_.push_back({name + ".running_mean", at::zeros({channels}, type_)});
  buffers_.push_back({name + ".running_var", at::ones({channels}, type_)});
  buffers_.push_back({name + ".num_batches_tracked", at::zeros({}, at::kLong)});
  return norm;
}

BuiltInModel::ConvNorm BuiltInModel::add_conv_norm(const std::string& conv, const std::string& norm,
                                                   std::int64_t outputs, std::int64_t inputs,
                                                   std::int64_t kernel, double norm_weight) {
  // The variance of numbers that are uniform in ±bound is bound²/3.
  const Index weight = add_layer(conv, {outputs, inputs, kernel, kernel}, false, std::sqrt(6.0F));
  return {weight, add_batch_norm(norm, outputs, norm_weight)};
}

at::Tensor BuiltInModel::conv_norm(const at::Tensor& values, const ConvNorm& layer,
                                   std::int64_t stride, bool training) {
  const at::Tensor& weight = parameter(layer.weight);
  return batch_norm(at::conv2d(values, weight, {}, stride, /*padding=*/weight.size(2) / 2),
                    layer.norm, training);
}

at::Tensor BuiltInModel::linear(const at::Tensor& values, Index layer) const {
  return at::linear(values, parameter(layer), parameter(layer + 1));
}

at::Tensor BuiltInModel::layer_norm(const at::Tensor& values, Index layer) const {
  return at::layer_norm(values, parameter(layer).sizes(), parameter(layer), parameter(layer + 1),
                        kNormEpsilon);
}

at::Tensor BuiltInModel::batch_norm(const at::Tensor& values, const BatchNorm& norm,
                                    bool training) {
  if (training) buffers_[norm.buffer + 2].tensor += 1;
  return at::batch_norm(values, parameter(norm.weight), parameter(norm.weight + 1),
                        buffers_[norm.buffer].tensor, buffers_[norm.buffer + 1].tensor, training,
                        kBatchNormMomentum, kNormEpsilon, /*cudnn_enabled=*/false);
}

BuiltInModel::Index BuiltInModel::add_parameter(const std::string& name, const at::Tensor& values) {
  parameters_.push_back({name, values.to(type_).requires_grad_(true)});
  return parameters_.size() - 1;
}

// Drawn in float for both precisions.
at::Tensor BuiltInModel::uniform(const std::vector<std::int64_t>& shape, float bound) const {
  const at::Tensor values = at::empty(shape, at::kFloat);
  RandomStream stream({seed_, kInitialValues, parameters_.size()});
  float* out = values.data_ptr<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i) out[i] = bound * (2 * stream.uniform() - 1);
  return values;
}

}  // namespace jabas
