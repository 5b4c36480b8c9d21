// The layers that gpt and vit are made of: LayerNorm, attention, and a GELU network four times as
// wide, with dropout on what each adds (Vaswani et al. 2017; norms first as in Radford et al.
// 2019).
#pragma once

#include "elastic_runner/built_in_model.h"

namespace jabas {

class Transformer : public BuiltInModel {
 public:
  Transformer(const EngineOptions& options, at::ScalarType type);

 protected:
  // Uniform bound of tables of positions and the like: a deviation of 0.02.
  static constexpr float kTableBound = 0.035F;

  // Adds the parameters of all layers and of the norm behind them.
  void add_layers();
  // [n, length, width] to the same; position i does not see j where hidden[i][j].
  at::Tensor through_layers(at::Tensor values, const at::Tensor& hidden,
                            RandomStream* stream) const;

  const std::int64_t width_;
  const double dropout_;

 private:
  struct Layer {
    Index norm1, qkv, projection, norm2, fc1, fc2;
  };
  at::Tensor attention(const at::Tensor& values, const at::Tensor& hidden,
                       const Layer& layer) const;

  const int count_;
  const std::int64_t heads_;
  std::vector<Layer> layers_;
  Index norm_ = 0;
};

}  // namespace jabas
