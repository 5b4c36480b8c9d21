// What becomes of samples that cannot be used: the first is an error, or (--skip-bad) they are left
// out and counted. One per data set; equal files give equal decisions on every rank.
//
// Threads: add() from one, while the data set is opened; read_or_next() from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "allocator/error.h"
#include "elastic_runner/random_stream.h"

namespace jabas {

class BadSamples {
 public:
  explicit BadSamples(bool skip) : skip_(skip) {}

  bool skip() const { return skip_; }
  // Throws InputError(text) unless they are skipped.
  void add(const std::string& text);
  std::int64_t count() const { return count_; }
  const std::string& first() const { return first_; }

  // Calls read(sample, stream) with a copy of `stream`, and keeps the copy's position if it
  // succeeds. With skip(), a sample that throws InputError is replaced by the one after it (the
  // first follows the last), at most kMostReplacements times; the sample's own number counts as
  // read. That needs no agreement among ranks: one virtual worker reads a sample.
  template <typename Read>
  void read_or_next(std::int64_t sample, std::int64_t samples, RandomStream& stream,
                    const Read& read) const {
    for (int replaced = 0;; ++replaced) {
      RandomStream attempt = stream;
      try {
        read((sample + replaced) % samples, attempt);
        stream = attempt;
        return;
      } catch (const InputError& error) {
        if (!skip_ || replaced == kMostReplacements) throw;
        announce_replacement(error.what());
      }
    }
  }

 private:
  static constexpr int kMostReplacements = 100;  // then something else is wrong with the data

  // Says so for the first, the 10th, the 100th, …
  void announce_replacement(const std::string& text) const;

  const bool skip_;
  std::int64_t count_ = 0;
  std::string first_;
  mutable std::atomic<std::int64_t> replaced_ = 0;
};

}  // namespace jabas
