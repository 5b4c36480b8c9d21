// A plug-in for jabas-run: two interleaved spirals as data, and a small network that tells them
// apart. Options (--plugin-options): the number of training points, 2000 if empty.
#include <ATen/ATen.h>

#include <cmath>
#include <stdexcept>

#include "elastic_runner/plugin.h"

JABAS_PLUGIN;

namespace {

constexpr std::int64_t kTestPoints = 400, kHidden = 32;
constexpr double kTurns = 1.25;

// Points are made when they are read: point i is the same on every rank and in every epoch.
class Spirals : public jabas::BatchLoader {
 public:
  explicit Spirals(const jabas::PluginContext& context)
      : type_(context.type), points_(context.options.empty() ? 2000 : std::stoll(context.options)) {
    if (points_ < 2) throw std::invalid_argument("at least 2 points are needed");
  }

  jabas::DataShape shape() const override {
    jabas::DataShape shape;
    shape.kind = jabas::DataShape::Kind::kArrays;
    shape.sample = {2};
    shape.classes = 2;
    return shape;
  }
  std::int64_t train_samples() const override { return points_; }
  std::int64_t test_samples() const override { return kTestPoints; }
  jabas::Batch train(const std::vector<std::int64_t>& samples,
                     jabas::RandomStream&) const override {
    return read(samples, 0);
  }
  jabas::Batch test(const std::vector<std::int64_t>& samples) const override {
    return read(samples, points_);
  }

 private:
  jabas::Batch read(const std::vector<std::int64_t>& samples, std::int64_t first) const {
    const auto count = static_cast<std::int64_t>(samples.size());
    at::Tensor points = at::empty({count, 2}, at::kDouble);
    at::Tensor labels = at::empty({count}, at::kLong);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t point = first + samples[static_cast<std::size_t>(i)];
      jabas::RandomStream draws({static_cast<std::uint64_t>(point)});
      const std::int64_t label = point % 2;
      const double radius = std::sqrt(draws.uniform());
      const double angle = 2 * M_PI * (kTurns * radius + 0.5 * static_cast<double>(label));
      points[i][0] = radius * std::cos(angle);
      points[i][1] = radius * std::sin(angle);
      labels[i] = label;
    }
    return {{points.to(type_)}, labels};
  }

  const at::ScalarType type_;
  const std::int64_t points_;
};

class Classifier : public jabas::Model {
 public:
  explicit Classifier(const jabas::PluginContext& context) {
    if (context.shape.sample.size() != 1)
      throw std::invalid_argument("the model reads rows of numbers");
    add("hidden", kHidden, context.shape.sample[0], context);
    add("middle", kHidden, kHidden, context);
    add("output", context.shape.classes, kHidden, context);
  }

  at::Tensor forward(const jabas::Batch& batch, jabas::RandomStream*) override {
    at::Tensor values = batch.inputs[0];
    for (std::size_t layer = 0; layer < parameters_.size(); layer += 2) {
      if (layer > 0) values = at::tanh(values);
      values = at::linear(values, parameters_[layer].tensor, parameters_[layer + 1].tensor);
    }
    return values;
  }
  std::vector<jabas::NamedTensor>& parameters() override { return parameters_; }
  std::vector<jabas::NamedTensor>& buffers() override { return buffers_; }

 private:
  // Initial values depend on the seed alone, so that all ranks begin with the same.
  void add(const std::string& name, std::int64_t outputs, std::int64_t inputs,
           const jabas::PluginContext& context) {
    at::Tensor weight = at::empty({outputs, inputs}, at::kFloat);
    jabas::RandomStream draws({context.seed, parameters_.size()});
    for (std::int64_t i = 0; i < weight.numel(); ++i)
      weight.data_ptr<float>()[i] =
          3 * (2 * draws.uniform() - 1) / std::sqrt(static_cast<float>(inputs));
    parameters_.push_back({name + ".weight", weight.to(context.type).requires_grad_(true)});
    parameters_.push_back(
        {name + ".bias", at::zeros({outputs}, context.type).requires_grad_(true)});
  }

  std::vector<jabas::NamedTensor> parameters_, buffers_;
};

}  // namespace

jabas::Model* jabas_make_model(const jabas::PluginContext& context) {
  return new Classifier(context);
}
jabas::BatchLoader* jabas_make_data(const jabas::PluginContext& context) {
  return new Spirals(context);
}
