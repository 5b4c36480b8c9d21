#include "elastic_runner/npy_loader.h"

#include <ATen/ATen.h>

#include "elastic_runner/npy_arrays.h"

namespace jabas {
namespace {

class NpyLoader : public BatchLoader {
 public:
  NpyLoader(const EngineOptions& options, at::ScalarType type)
      : bad_(options.reading.skip_bad), arrays_(options, bad_), type_(type) {}
  DataShape shape() const override { return arrays_.shape(); }
  std::int64_t train_samples() const override { return std::ssize(arrays_.train().rows); }
  std::int64_t test_samples() const override { return std::ssize(arrays_.test().rows); }
  Batch train(const std::vector<std::int64_t>& samples, RandomStream&) const override {
    return load(arrays_.train(), samples);
  }
  Batch test(const std::vector<std::int64_t>& samples) const override {
    return load(arrays_.test(), samples);
  }

 private:
  Batch load(const NpyArrays::Split& split, const std::vector<std::int64_t>& samples) const {
    std::vector<std::int64_t> rows;
    for (const auto sample : samples) {
      JABAS_ASSERT(sample >= 0 && sample < std::ssize(split.rows),
                   "sample " + std::to_string(sample));
      rows.push_back(split.rows[static_cast<std::size_t>(sample)]);
    }
    return {{numbers(split.inputs, rows, type_)},
            numbers(split.labels, rows, split.labels.whole_numbers() ? at::kLong : type_)};
  }

  static at::Tensor numbers(const NpyFile& file, const std::vector<std::int64_t>& rows,
                            at::ScalarType type) {
    std::vector<std::int64_t> sizes = file.shape();
    sizes[0] = std::ssize(rows);
    const at::Tensor values = at::empty(sizes, type);
    const auto fill = [&]<typename T>(T* to) {
      for (const auto row : rows) {
        file.read_row(row, to);
        to += file.numbers_per_row();
      }
    };
    if (type == at::kLong)
      fill(values.data_ptr<std::int64_t>());
    else if (type == at::kDouble)
      fill(values.data_ptr<double>());
    else
      fill(values.data_ptr<float>());
    return values;
  }

  BadSamples bad_;
  const NpyArrays arrays_;
  const at::ScalarType type_;
};

}  // namespace

std::unique_ptr<const BatchLoader> make_npy_loader(const EngineOptions& options,
                                                   at::ScalarType type) {
  return std::make_unique<NpyLoader>(options, type);
}

}  // namespace jabas
