#include "elastic_runner/dlrm_model.h"

#include <ATen/ATen.h>

#include <cmath>

#include "elastic_runner/built_in_model.h"

namespace jabas {
namespace {

class Dlrm : public BuiltInModel {
 public:
  Dlrm(const EngineOptions& options, const DataShape& shape, at::ScalarType type)
      : BuiltInModel(type, options.seed) {
    const std::int64_t width = options.size.width, tables = std::ssize(shape.table_rows);
    for (std::int64_t i = 0; i < tables; ++i) {
      const std::int64_t rows = shape.table_rows[static_cast<std::size_t>(i)];
      tables_.push_back(add_table("table" + std::to_string(i), rows, width,
                                  static_cast<float>(1 / std::sqrt(static_cast<double>(rows)))));
    }
    bottom_ = add_network("bottom", shape.dense, width, options.size);
    // Every two of the tables' vectors and that of the numbers.
    top_ = add_network("top", width + (tables + 1) * tables / 2, 1, options.size);
    pairs_ = at::tril_indices(tables + 1, tables + 1, /*offset=*/-1, at::kLong);
  }

  at::Tensor forward(const Batch& batch, RandomStream*) override {
    std::vector<at::Tensor> vectors = {at::relu(through(batch.inputs[0], bottom_))};
    for (std::size_t i = 0; i < tables_.size(); ++i)
      vectors.push_back(at::embedding(parameter(tables_[i]),
                                      batch.inputs[1].select(1, static_cast<std::int64_t>(i))));
    const at::Tensor all = at::stack(vectors, 1);
    const std::int64_t count = all.size(1);
    const at::Tensor products =
        at::bmm(all, all.transpose(1, 2)).flatten(1).index_select(1, pairs_[0] * count + pairs_[1]);
    return through(at::cat({vectors[0], products}, 1), top_).flatten();
  }
  Loss loss() const override { return Loss::kBinary; }

 private:
  std::vector<Index> add_network(const std::string& name, std::int64_t from, std::int64_t to,
                                 const ModelSize& size) {
    std::vector<Index> layers;
    for (int i = 0; i <= size.layers; ++i) {
      const std::int64_t outputs = i == size.layers ? to : 8 * std::int64_t{size.width};
      layers.push_back(add_layer(name + std::to_string(i), {outputs, from}, true));
      from = outputs;
    }
    return layers;
  }

  at::Tensor through(at::Tensor values, const std::vector<Index>& layers) const {
    for (std::size_t i = 0; i < layers.size(); ++i)
      values = linear(i > 0 ? at::relu(values) : values, layers[i]);
    return values;
  }

  std::vector<Index> tables_, bottom_, top_;
  at::Tensor pairs_;
};

}  // namespace

std::unique_ptr<Model> make_dlrm(const EngineOptions& options, const DataShape& shape,
                                 at::ScalarType type) {
  return std::make_unique<Dlrm>(options, shape, type);
}

}  // namespace jabas
