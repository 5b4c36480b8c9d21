#include "elastic_runner/unet_model.h"

#include <ATen/ATen.h>

#include "elastic_runner/built_in_model.h"

namespace jabas {
namespace {

class Unet : public BuiltInModel {
 public:
  Unet(const EngineOptions& options, const DataShape& shape, at::ScalarType type)
      : BuiltInModel(type, options.seed) {
    const int levels = options.size.layers;
    const auto channels = [&](int level) { return std::int64_t{options.size.width} << level; };
    for (int level = 0; level < levels; ++level)
      down_.push_back(add_pair("down" + std::to_string(level) + ".", channels(level),
                               level == 0 ? shape.channels : channels(level - 1)));
    bottom_ = add_pair("bottom.", channels(levels), channels(levels - 1));
    for (int level = levels - 1; level >= 0; --level) {
      const std::string name = "up" + std::to_string(level) + ".";
      const Index up =
          add_layer(name + "conv", {channels(level + 1), channels(level), 2, 2}, false);
      up_.push_back({up, add_pair(name, channels(level), 2 * channels(level))});
    }
    classifier_ = add_layer("classes", {shape.classes, channels(0), 1, 1}, true);
  }

  at::Tensor forward(const Batch& batch, RandomStream* stream) override {
    const bool training = stream != nullptr;
    at::Tensor values = batch.inputs[0];
    std::vector<at::Tensor> passed;
    for (const Pair& pair : down_) {
      passed.push_back(convolved(values, pair, training));
      values = at::max_pool2d(passed.back(), 2);
    }
    values = convolved(values, bottom_, training);
    for (const Up& up : up_) {
      const at::Tensor larger = at::conv_transpose2d(values, parameter(up.conv), {}, /*stride=*/2);
      values = convolved(at::cat({passed.back(), larger}, 1), up.pair, training);
      passed.pop_back();
    }
    return at::conv2d(values, parameter(classifier_), parameter(classifier_ + 1))
        .permute({0, 2, 3, 1});
  }

 private:
  struct Pair {
    ConvNorm first, second;
  };
  struct Up {
    Index conv;
    Pair pair;
  };

  Pair add_pair(const std::string& name, std::int64_t to, std::int64_t from) {
    return {add_conv_norm(name + "conv1", name + "bn1", to, from, 3),
            add_conv_norm(name + "conv2", name + "bn2", to, to, 3)};
  }

  at::Tensor convolved(const at::Tensor& values, const Pair& pair, bool training) {
    const at::Tensor half = conv_norm(values, pair.first, 1, training).relu_();
    return conv_norm(half, pair.second, 1, training).relu_();
  }

  std::vector<Pair> down_;
  Pair bottom_{};
  std::vector<Up> up_;  // from the bottom
  Index classifier_ = 0;
};

}  // namespace

std::unique_ptr<Model> make_unet(const EngineOptions& options, const DataShape& shape,
                                 at::ScalarType type) {
  const int levels = options.size.layers;
  const auto halves = [&](std::int64_t side) {
    return levels < 32 && side % (std::int64_t{1} << levels) == 0;
  };
  if (!halves(shape.rows) || !halves(shape.columns))
    refuse_data(options, shape,
                "masks whose rows and columns are multiples of 2 to the power of --layers=" +
                    std::to_string(levels));
  return std::make_unique<Unet>(options, shape, type);
}

}  // namespace jabas
