#include "elastic_runner/gpt_model.h"

#include <ATen/ATen.h>

#include "elastic_runner/transformer.h"

namespace jabas {
namespace {

class Gpt : public Transformer {
 public:
  Gpt(const EngineOptions& options, const DataShape& shape, at::ScalarType type)
      : Transformer(options, type),
        tokens_(add_table("tokens", shape.vocabulary, width_, kTableBound)),
        positions_(add_table("positions", shape.length, width_, kTableBound)),
        later_(at::ones({shape.length, shape.length}, at::kBool).triu(1)) {
    add_layers();
  }

  at::Tensor forward(const Batch& batch, RandomStream* stream) override {
    const at::Tensor values =
        at::embedding(parameter(tokens_), batch.inputs[0]) + parameter(positions_);
    return at::linear(through_layers(dropout(values, dropout_, stream), later_, stream),
                      parameter(tokens_));
  }

 private:
  const Index tokens_, positions_;
  const at::Tensor later_;  // true where a position would see a later one
};

}  // namespace

std::unique_ptr<Model> make_gpt(const EngineOptions& options, const DataShape& shape,
                                at::ScalarType type) {
  return std::make_unique<Gpt>(options, shape, type);
}

}  // namespace jabas
