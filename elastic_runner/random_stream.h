// A stream of random numbers that is a function of its key alone: of no thread, rank, library
// version or precision. Not promised: cryptographic strength.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace jabas {

class RandomStream {
 public:
  // Every word of the key goes through the full mixer, so keys that differ in one bit give
  // unrelated streams.
  explicit RandomStream(std::initializer_list<std::uint64_t> key) {
    for (const auto word : key) state_ = mix(state_ ^ mix(word + kGolden));
  }

  // splitmix64 (Steele, Lea, Flood 2014).
  std::uint64_t next() { return mix(state_ += kGolden); }
  // Uniform in [0, 1) on a grid that float holds exactly.
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_ = 0;
};

}  // namespace jabas
