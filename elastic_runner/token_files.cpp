#include "elastic_runner/token_files.h"

#include <bit>
#include <cstring>

#include "elastic_runner/sample_subset.h"

namespace jabas {

static_assert(std::endian::native == std::endian::little, "tokens are read as they lie");

TokenFiles::TokenFiles(const EngineOptions& options, BadSamples& bad)
    : length_(options.sequence_length),
      vocabulary_(options.reading.vocabulary),
      token_bytes_(options.reading.token_type == "uint32" ? 4 : 2),
      train_(options.data_dir + "/train.bin"),
      test_(options.data_dir + "/test.bin"),
      train_samples_(subset_of(samples_in(train_, bad), options.subset)),
      test_samples_(samples_in(test_, bad)) {}

std::int64_t TokenFiles::samples_in(const MappedFile& file, BadSamples& bad) const {
  const std::int64_t bytes = static_cast<std::int64_t>(file.size());
  const std::string size = std::to_string(bytes) + " bytes";
  if (bytes % token_bytes_ != 0)
    bad.add(file.path() + ": truncated, or of another --token-type: " + size +
            " are not a multiple of " + std::to_string(token_bytes_));
  const std::int64_t samples = (bytes / token_bytes_ - 1) / length_;
  if (samples < 1)
    throw InputError(file.path() + ": " + size + ", at least " +
                     std::to_string((length_ + 1) * token_bytes_) + " are needed for a sample of " +
                     std::to_string(length_) + " tokens");
  return samples;
}

void TokenFiles::read(const MappedFile& file, std::int64_t sample, std::int64_t* tokens) const {
  const std::int64_t first = sample * length_;
  const std::uint8_t* from = file.data() + first * token_bytes_;
  const auto convert = [&]<typename Token>(Token token) {
    for (std::int64_t i = 0; i <= length_; ++i) {
      std::memcpy(&token, from + i * token_bytes_, sizeof token);
      if (token >= vocabulary_)
        throw InputError(file.path() + ": token " + std::to_string(token) + " at position " +
                         std::to_string(first + i) + ", accepted are 0.." +
                         std::to_string(vocabulary_ - 1) + " (--vocabulary)");
      tokens[i] = token;
    }
  };
  if (token_bytes_ == 4)
    convert(std::uint32_t{});
  else
    convert(std::uint16_t{});
}

}  // namespace jabas
