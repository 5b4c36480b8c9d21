#include "elastic_runner/text_loader.h"

#include <ATen/ATen.h>

#include "allocator/error.h"
#include "elastic_runner/text_corpus.h"

namespace jabas {
namespace {

constexpr std::int64_t kByteValues = 256;

class TextLoader : public BatchLoader {
 public:
  explicit TextLoader(TextCorpus corpus) : corpus_(std::move(corpus)) {}
  DataShape shape() const override {
    DataShape shape;
    shape.kind = DataShape::Kind::kTokens;
    shape.length = corpus_.length();
    shape.vocabulary = kByteValues;
    return shape;
  }
  std::int64_t train_samples() const override { return corpus_.train_samples(); }
  std::int64_t test_samples() const override { return corpus_.test_samples(); }
  Batch train(const std::vector<std::int64_t>& samples, RandomStream&) const override {
    return load(samples, train_samples(), [&](std::int64_t i) { return corpus_.train_sample(i); });
  }
  Batch test(const std::vector<std::int64_t>& samples) const override {
    return load(samples, test_samples(), [&](std::int64_t i) { return corpus_.test_sample(i); });
  }

 private:
  template <typename Text>
  Batch load(const std::vector<std::int64_t>& samples, std::int64_t limit, Text text) const {
    const std::int64_t count = std::ssize(samples), length = corpus_.length();
    Batch batch{{at::empty({count, length}, at::kLong)}, at::empty({count, length}, at::kLong)};
    auto* inputs = batch.inputs[0].data_ptr<std::int64_t>();
    auto* labels = batch.labels.data_ptr<std::int64_t>();
    for (const std::int64_t sample : samples) {
      JABAS_ASSERT(sample >= 0 && sample < limit, "sample " + std::to_string(sample));
      const std::uint8_t* from = text(sample);
      inputs = std::copy_n(from, length, inputs);
      labels = std::copy_n(from + 1, length, labels);
    }
    return batch;
  }

  const TextCorpus corpus_;
};

}  // namespace

std::unique_ptr<const BatchLoader> make_text_loader(const EngineOptions& options) {
  return std::make_unique<TextLoader>(
      TextCorpus(options.data_dir, options.sequence_length, options.subset));
}

}  // namespace jabas
