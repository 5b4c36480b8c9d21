#include "elastic_runner/text_loader.h"

#include <ATen/ATen.h>

#include "elastic_runner/bad_samples.h"
#include "elastic_runner/text_corpus.h"
#include "elastic_runner/token_files.h"

namespace jabas {
namespace {

// A text as what TokenFiles is: its tokens are bytes.
class ByteTokens {
 public:
  ByteTokens(const EngineOptions& options, BadSamples&)
      : corpus_(options.data_dir, options.sequence_length, options.subset) {}
  std::int64_t length() const { return corpus_.length(); }
  std::int64_t vocabulary() const { return 256; }
  std::int64_t train_samples() const { return corpus_.train_samples(); }
  std::int64_t test_samples() const { return corpus_.test_samples(); }
  void read_train(std::int64_t sample, std::int64_t* tokens) const {
    std::copy_n(corpus_.train_sample(sample), length() + 1, tokens);
  }
  void read_test(std::int64_t sample, std::int64_t* tokens) const {
    std::copy_n(corpus_.test_sample(sample), length() + 1, tokens);
  }

 private:
  const TextCorpus corpus_;
};

template <typename Corpus>
class SequenceLoader : public BatchLoader {
 public:
  explicit SequenceLoader(const EngineOptions& options)
      : bad_(options.reading.skip_bad), corpus_(options, bad_) {}
  DataShape shape() const override {
    DataShape shape;
    shape.kind = DataShape::Kind::kTokens;
    shape.length = corpus_.length();
    shape.vocabulary = corpus_.vocabulary();
    return shape;
  }
  std::int64_t train_samples() const override { return corpus_.train_samples(); }
  std::int64_t test_samples() const override { return corpus_.test_samples(); }
  Batch train(const std::vector<std::int64_t>& samples, RandomStream&) const override {
    return load(samples, train_samples(), [this](std::int64_t sample, std::int64_t* tokens) {
      corpus_.read_train(sample, tokens);
    });
  }
  Batch test(const std::vector<std::int64_t>& samples) const override {
    return load(samples, test_samples(), [this](std::int64_t sample, std::int64_t* tokens) {
      corpus_.read_test(sample, tokens);
    });
  }

 private:
  template <typename Read>
  Batch load(const std::vector<std::int64_t>& samples, std::int64_t limit, const Read& read) const {
    const std::int64_t count = std::ssize(samples), length = corpus_.length();
    Batch batch{{at::empty({count, length}, at::kLong)}, at::empty({count, length}, at::kLong)};
    auto* inputs = batch.inputs[0].data_ptr<std::int64_t>();
    auto* labels = batch.labels.data_ptr<std::int64_t>();
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(length) + 1);
    RandomStream unused({0});
    for (const std::int64_t sample : samples) {
      JABAS_ASSERT(sample >= 0 && sample < limit, "sample " + std::to_string(sample));
      bad_.read_or_next(sample, limit, unused, [&](std::int64_t readable, RandomStream&) {
        read(readable, tokens.data());
      });
      inputs = std::copy_n(tokens.begin(), length, inputs);
      labels = std::copy_n(tokens.begin() + 1, length, labels);
    }
    return batch;
  }

  BadSamples bad_;
  const Corpus corpus_;
};

}  // namespace

std::unique_ptr<const BatchLoader> make_text_loader(const EngineOptions& options) {
  return std::make_unique<SequenceLoader<ByteTokens>>(options);
}

std::unique_ptr<const BatchLoader> make_token_loader(const EngineOptions& options) {
  return std::make_unique<SequenceLoader<TokenFiles>>(options);
}

}  // namespace jabas
