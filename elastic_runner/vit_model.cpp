#include "elastic_runner/vit_model.h"

#include <ATen/ATen.h>

#include "elastic_runner/transformer.h"

namespace jabas {
namespace {

class Vit : public Transformer {
 public:
  Vit(const EngineOptions& options, const DataShape& shape, at::ScalarType type)
      : Transformer(options, type),
        patch_(options.size.patch_size),
        patches_(add_layer("patches", {width_, shape.channels, patch_, patch_}, true)),
        class_token_(add_table("class_token", 1, width_, kTableBound)),
        positions_(add_table("positions", 1 + (shape.rows / patch_) * (shape.columns / patch_),
                             width_, kTableBound)) {
    add_layers();
    head_ = add_layer("head", {shape.classes, width_}, true);
  }

  at::Tensor forward(const Batch& batch, RandomStream* stream) override {
    const at::Tensor patches =
        at::conv2d(batch.inputs[0], parameter(patches_), parameter(patches_ + 1), patch_)
            .flatten(2)
            .transpose(1, 2);
    const at::Tensor tokens =
        at::cat({parameter(class_token_).expand({patches.size(0), 1, width_}), patches}, 1);
    const at::Tensor values =
        through_layers(dropout(tokens + parameter(positions_), dropout_, stream), {}, stream);
    return linear(values.select(1, 0), head_);
  }

 private:
  const std::int64_t patch_;
  const Index patches_, class_token_, positions_;
  Index head_ = 0;
};

}  // namespace

std::unique_ptr<Model> make_vit(const EngineOptions& options, const DataShape& shape,
                                at::ScalarType type) {
  const int patch = options.size.patch_size;
  if (shape.rows % patch != 0 || shape.columns % patch != 0)
    refuse_data(
        options, shape,
        "images whose rows and columns are multiples of --patch-size=" + std::to_string(patch));
  return std::make_unique<Vit>(options, shape, type);
}

}  // namespace jabas
