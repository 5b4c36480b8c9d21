#include "elastic_runner/synthetic_loader.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "allocator/error.h"
#include "elastic_runner/synthetic_data.h"

namespace jabas {
namespace {

using Kind = DataShape::Kind;

// Separate the draws of samples from those that all samples share.
constexpr std::uint64_t kSamples = 0x73796e746831, kRules = 0x73796e746832;
constexpr double kNoise = 0.5, kBrokenRule = 0.1;

double signed_uniform(RandomStream& stream) {
  return 2 * static_cast<double>(stream.uniform()) - 1;
}

std::int64_t below(RandomStream& stream, std::int64_t limit) {
  return static_cast<std::int64_t>(stream.next() % static_cast<std::uint64_t>(limit));
}

// A number in ±1 that every sample sees for this place.
double rule(std::uint64_t first, std::uint64_t second) {
  RandomStream stream({kRules, first, second});
  return signed_uniform(stream);
}

std::int64_t next_token(std::int64_t token, std::int64_t vocabulary) {
  return (3 * token + 1) % vocabulary;
}

class SyntheticLoader : public BatchLoader {
 public:
  SyntheticLoader(const EngineOptions& options, at::ScalarType type)
      : shape_(synthetic_shape(options)),
        train_samples_(synthetic_train_samples(options)),
        test_samples_(options.synthetic.test_samples),
        type_(type) {}
  DataShape shape() const override { return shape_; }
  std::int64_t train_samples() const override { return train_samples_; }
  std::int64_t test_samples() const override { return test_samples_; }
  Batch train(const std::vector<std::int64_t>& samples, RandomStream&) const override {
    return load(samples, train_samples_, 0);
  }
  Batch test(const std::vector<std::int64_t>& samples) const override {
    return load(samples, test_samples_, 1);
  }

 private:
  Batch load(const std::vector<std::int64_t>& samples, std::int64_t limit,
             std::uint64_t set) const {
    Batch batch = empty(std::ssize(samples));
    for (std::int64_t i = 0; i < std::ssize(samples); ++i) {
      const std::int64_t sample = samples[static_cast<std::size_t>(i)];
      JABAS_ASSERT(sample >= 0 && sample < limit, "sample " + std::to_string(sample));
      RandomStream draws({kSamples, set, static_cast<std::uint64_t>(sample)});
      Batch one{{}, batch.labels[i]};
      for (const at::Tensor& input : batch.inputs) one.inputs.push_back(input[i]);
      fill(one, draws);
    }
    for (at::Tensor& tensor : batch.inputs) tensor = in_training_type(tensor);
    batch.labels = in_training_type(batch.labels);
    return batch;
  }

  at::Tensor in_training_type(const at::Tensor& tensor) const {
    return tensor.scalar_type() == at::kDouble ? tensor.to(type_) : tensor;
  }

  // Numbers are doubles until all are filled in.
  Batch empty(std::int64_t count) const {
    const auto numbers = [&](std::vector<std::int64_t> sizes) {
      sizes.insert(sizes.begin(), count);
      return at::empty(sizes, at::kDouble);
    };
    const auto classes = [&](std::vector<std::int64_t> sizes) {
      sizes.insert(sizes.begin(), count);
      return at::empty(sizes, at::kLong);
    };
    switch (shape_.kind) {
      case Kind::kImages:
        return {{numbers({shape_.channels, shape_.rows, shape_.columns})}, classes({})};
      case Kind::kMasks:
        return {{numbers({shape_.channels, shape_.rows, shape_.columns})},
                classes({shape_.rows, shape_.columns})};
      case Kind::kTokens:
        return {{classes({shape_.length})}, classes({shape_.length})};
      case Kind::kPairs:
        return {{classes({shape_.source_length}), classes({shape_.length})},
                classes({shape_.length})};
      case Kind::kClicks:
        return {{numbers({shape_.dense}), classes({std::ssize(shape_.table_rows)})}, classes({})};
      case Kind::kArrays:
        return {{numbers(shape_.sample)},
                shape_.classes > 0 ? classes({}) : numbers(shape_.target)};
    }
    JABAS_ASSERT(false, "kind of data");
  }

  // `one` has views of the sample's places.
  void fill(const Batch& one, RandomStream& draws) const {
    switch (shape_.kind) {
      case Kind::kImages:
        return fill_image(one, draws);
      case Kind::kMasks:
        return fill_mask(one, draws);
      case Kind::kTokens:
        return fill_tokens(one.inputs[0], one.labels, draws);
      case Kind::kPairs:
        return fill_pair(one, draws);
      case Kind::kClicks:
        return fill_clicks(one, draws);
      case Kind::kArrays:
        return fill_array(one, draws);
    }
  }

  void fill_image(const Batch& one, RandomStream& draws) const {
    const std::int64_t label = below(draws, shape_.classes);
    *one.labels.data_ptr<std::int64_t>() = label;
    double* out = one.inputs[0].data_ptr<double>();
    for (std::int64_t channel = 0; channel < shape_.channels; ++channel) {
      const auto wave = [&](std::uint64_t part) {
        return 1.5 * rule(static_cast<std::uint64_t>(label * shape_.channels + channel), part);
      };
      const double down = wave(0), right = wave(1), start = wave(2);
      for (std::int64_t y = 0; y < shape_.rows; ++y)
        for (std::int64_t x = 0; x < shape_.columns; ++x)
          *out++ =
              std::sin(down * static_cast<double>(y) + right * static_cast<double>(x) + start) +
              kNoise * signed_uniform(draws);
    }
  }

  void fill_mask(const Batch& one, RandomStream& draws) const {
    const std::int64_t label = 1 + below(draws, shape_.classes - 1);
    const std::int64_t top = below(draws, shape_.rows), left = below(draws, shape_.columns);
    const std::int64_t height = 1 + below(draws, shape_.rows),
                       width = 1 + below(draws, shape_.columns);
    auto* labels = one.labels.data_ptr<std::int64_t>();
    for (std::int64_t y = 0; y < shape_.rows; ++y)
      for (std::int64_t x = 0; x < shape_.columns; ++x)
        *labels++ = y >= top && y < top + height && x >= left && x < left + width ? label : 0;
    const double spacing = 2 / static_cast<double>(shape_.classes - 1);
    double* out = one.inputs[0].data_ptr<double>();
    for (std::int64_t channel = 0; channel < shape_.channels; ++channel) {
      labels = one.labels.data_ptr<std::int64_t>();
      for (std::int64_t pixel = 0; pixel < shape_.rows * shape_.columns; ++pixel)
        *out++ = spacing * (static_cast<double>(*labels++) + kNoise * signed_uniform(draws)) - 1;
    }
  }

  // One more token than the length, of which the labels are the last ones.
  void fill_tokens(const at::Tensor& inputs, const at::Tensor& labels, RandomStream& draws) const {
    auto* in = inputs.data_ptr<std::int64_t>();
    auto* out = labels.data_ptr<std::int64_t>();
    std::int64_t token = below(draws, shape_.vocabulary);
    for (std::int64_t i = 0; i < shape_.length; ++i) {
      in[i] = token;
      const bool broken = static_cast<double>(draws.uniform()) < kBrokenRule;
      token = broken ? below(draws, shape_.vocabulary) : next_token(token, shape_.vocabulary);
      out[i] = token;
    }
  }

  void fill_pair(const Batch& one, RandomStream& draws) const {
    auto* source = one.inputs[0].data_ptr<std::int64_t>();
    auto* target = one.inputs[1].data_ptr<std::int64_t>();
    auto* labels = one.labels.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < shape_.source_length; ++i)
      source[i] = below(draws, shape_.vocabulary);
    std::int64_t before = 0;
    for (std::int64_t i = 0; i < shape_.length; ++i) {
      target[i] = before;
      before = labels[i] = next_token(source[i % shape_.source_length], shape_.vocabulary);
    }
  }

  void fill_clicks(const Batch& one, RandomStream& draws) const {
    double sum = 0;
    double* numbers = one.inputs[0].data_ptr<double>();
    for (std::int64_t i = 0; i < shape_.dense; ++i) {
      numbers[i] = signed_uniform(draws);
      sum += numbers[i] * rule(0, static_cast<std::uint64_t>(i));
    }
    auto* rows = one.inputs[1].data_ptr<std::int64_t>();
    for (std::size_t table = 0; table < shape_.table_rows.size(); ++table) {
      rows[table] = below(draws, shape_.table_rows[table]);
      sum += rule(table + 1, static_cast<std::uint64_t>(rows[table]));
    }
    *one.labels.data_ptr<std::int64_t>() = sum > 0;
  }

  void fill_array(const Batch& one, RandomStream& draws) const {
    const bool classes = shape_.classes > 0;
    const std::int64_t label = classes ? below(draws, shape_.classes) : 0;
    double* numbers = one.inputs[0].data_ptr<double>();
    double sum = 0;
    for (std::int64_t i = 0; i < one.inputs[0].numel(); ++i) {
      const double shared = rule(static_cast<std::uint64_t>(label), static_cast<std::uint64_t>(i));
      numbers[i] = classes ? shared + kNoise * signed_uniform(draws) : signed_uniform(draws);
      sum += numbers[i] * shared;
    }
    if (classes)
      *one.labels.data_ptr<std::int64_t>() = label;
    else
      *one.labels.data_ptr<double>() = sum;
  }

  const DataShape shape_;
  const std::int64_t train_samples_, test_samples_;
  const at::ScalarType type_;
};

}  // namespace

std::unique_ptr<const BatchLoader> make_synthetic_loader(const EngineOptions& options,
                                                         at::ScalarType type) {
  return std::make_unique<SyntheticLoader>(options, type);
}

}  // namespace jabas
