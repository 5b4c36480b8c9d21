// A byte-level text data set: the regular files of a folder (or one file) behind each other, cut
// into samples of equal length. Each byte of a sample is to be predicted from those before it, so
// a sample's label is the same piece of text one byte later. The last tenth is for testing.
// No torch.   Threads: const, safe to share.
// Errors: InputError names file or folder and the reason; UsageError for a subset larger than the
//         training part.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jabas {

class TextCorpus {
 public:
  // directory "" = the licences that Debian ships; subset 0 = the whole training part. Files are
  // read in the order of their paths; symbolic links are left out.
  TextCorpus(const std::string& directory, std::int64_t length, std::int64_t subset);

  std::int64_t length() const { return length_; }
  std::int64_t train_samples() const { return train_; }
  std::int64_t test_samples() const { return test_; }
  // length + 1 bytes: the input, and after each of its bytes what follows.
  const std::uint8_t* train_sample(std::int64_t i) const { return text_.data() + i * length_; }
  const std::uint8_t* test_sample(std::int64_t i) const {
    return text_.data() + (first_test_ + i) * length_;
  }

 private:
  std::int64_t length_, train_ = 0, test_ = 0, first_test_ = 0;
  std::vector<std::uint8_t> text_;
};

}  // namespace jabas
