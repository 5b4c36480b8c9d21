// tokens: train.bin and test.bin, each one long row of whole numbers (uint16 or uint32, little
// endian, no header), memory-mapped and cut into samples of equal length. Each token of a sample is
// to be predicted from those before it, so labels are the same piece one token later.
// No torch.   Threads: const, safe to share.
// Errors: InputError names the file and the reason; UsageError for a subset larger than the
//         training file. A token outside the vocabulary is found when its sample is read.
#pragma once

#include <cstdint>

#include "elastic_runner/bad_samples.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/mapped_file.h"

namespace jabas {

class TokenFiles {
 public:
  TokenFiles(const EngineOptions& options, BadSamples& bad);

  std::int64_t length() const { return length_; }
  std::int64_t vocabulary() const { return vocabulary_; }
  std::int64_t train_samples() const { return train_samples_; }
  std::int64_t test_samples() const { return test_samples_; }
  // length + 1 tokens: the input, and after each of its tokens what follows.
  void read_train(std::int64_t sample, std::int64_t* tokens) const { read(train_, sample, tokens); }
  void read_test(std::int64_t sample, std::int64_t* tokens) const { read(test_, sample, tokens); }

 private:
  std::int64_t samples_in(const MappedFile& file, BadSamples& bad) const;
  void read(const MappedFile& file, std::int64_t sample, std::int64_t* tokens) const;

  const std::int64_t length_, vocabulary_, token_bytes_;
  const MappedFile train_, test_;
  std::int64_t train_samples_, test_samples_;
};

}  // namespace jabas
