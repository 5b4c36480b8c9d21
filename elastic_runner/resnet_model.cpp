#include "elastic_runner/resnet_model.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <map>

#include "elastic_runner/built_in_model.h"

namespace jabas {
namespace {

constexpr std::int64_t kLargestSmallImage = 64;

struct Depth {
  std::array<int, 4> blocks;  // by stage
  bool bottleneck;
};

const std::map<std::string, Depth> kDepths = {
    {"resnet18", {{2, 2, 2, 2}, false}},
    {"resnet34", {{3, 4, 6, 3}, false}},
    {"resnet50", {{3, 4, 6, 3}, true}},
};

class ResNet : public BuiltInModel {
 public:
  ResNet(const EngineOptions& options, const DataShape& shape, at::ScalarType type)
      : BuiltInModel(type, options.seed),
        small_(std::max(shape.rows, shape.columns) <= kLargestSmallImage) {
    const Depth& depth = kDepths.at(options.model);
    std::int64_t channels = options.size.width;
    stem_ = add_conv_norm("conv1", "bn1", channels, shape.channels, small_ ? 3 : 7);
    for (std::size_t stage = 0; stage < depth.blocks.size(); ++stage) {
      const std::int64_t width = std::int64_t{options.size.width} << stage;
      for (int i = 0; i < depth.blocks[stage]; ++i) {
        const std::string name =
            "layer" + std::to_string(stage + 1) + "." + std::to_string(i) + ".";
        const int stride = stage > 0 && i == 0 ? 2 : 1;
        blocks_.push_back(add_block(name, depth.bottleneck, channels, width, stride));
        channels = depth.bottleneck ? 4 * width : width;
      }
    }
    classifier_ = add_layer("fc", {shape.classes, channels}, true);
  }

  at::Tensor forward(const Batch& batch, RandomStream* stream) override {
    const bool training = stream != nullptr;
    // ReLU in place where nothing else keeps its input.
    at::Tensor values = conv_norm(batch.inputs[0], stem_, small_ ? 1 : 2, training).relu_();
    if (!small_) values = at::max_pool2d(values, 3, 2, 1);
    for (const Block& block : blocks_) {
      at::Tensor branch = values;
      for (std::size_t i = 0; i < block.units.size(); ++i) {
        if (i > 0) branch.relu_();
        branch = conv_norm(branch, block.units[i], i == block.strided ? block.stride : 1, training);
      }
      for (const ConvNorm& unit : block.shortcut)
        values = conv_norm(values, unit, block.stride, training);
      values = (values + branch).relu_();
    }
    return linear(values.mean({2, 3}), classifier_);
  }

 private:
  struct Block {
    std::vector<ConvNorm> units, shortcut;  // shortcut: none where the shapes agree
    std::size_t strided = 0;                // the unit with the stride
    int stride = 1;
  };

  Block add_block(const std::string& name, bool bottleneck, std::int64_t from, std::int64_t width,
                  int stride) {
    Block block;
    block.stride = stride;
    const auto add = [&](std::int64_t to, std::int64_t kernel, double norm_weight) {
      const std::string index = std::to_string(block.units.size() + 1);
      const std::int64_t input = block.units.empty() ? from : width;
      block.units.push_back(add_conv_norm(name + "conv" + index, name + "bn" + index, to, input,
                                          kernel, norm_weight));
    };
    if (bottleneck) {
      block.strided = 1;
      add(width, 1, 1);
      add(width, 3, 1);
      add(4 * width, 1, 0);
    } else {
      add(width, 3, 1);
      add(width, 3, 0);
    }
    const std::int64_t to = bottleneck ? 4 * width : width;
    if (stride != 1 || from != to)
      block.shortcut.push_back(
          add_conv_norm(name + "downsample.0", name + "downsample.1", to, from, 1));
    return block;
  }

  const bool small_;
  ConvNorm stem_{};
  std::vector<Block> blocks_;
  Index classifier_ = 0;
};

}  // namespace

std::unique_ptr<Model> make_resnet(const EngineOptions& options, const DataShape& shape,
                                   at::ScalarType type) {
  return std::make_unique<ResNet>(options, shape, type);
}

}  // namespace jabas
