// A small data set in the MNIST format in a private directory: each class has its own bright block,
// plus noise.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "elastic_runner/random_stream.h"
#include "tests/support/temp_dir.h"

namespace jabas::testing {

class SyntheticMnist {
 public:
  explicit SyntheticMnist(int train = 320, int test = 130) {
    write("train", train);
    write("t10k", test);
  }

  std::string path() const { return directory_.path(); }
  std::string file(const std::string& name) const { return (directory_ / name).string(); }
  void replace(const std::string& name, const std::string& content) const {
    std::ofstream(directory_ / name, std::ios::binary) << content;
  }

  static std::string big_endian(std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
    return bytes;
  }
  static std::string images_header(std::uint32_t count) {
    return big_endian(0x803) + big_endian(count) + big_endian(28) + big_endian(28);
  }

 private:
  void write(const std::string& prefix, int count) const {
    RandomStream random({static_cast<std::uint64_t>(count)});
    std::string images = images_header(static_cast<std::uint32_t>(count));
    std::string labels = big_endian(0x801) + big_endian(static_cast<std::uint32_t>(count));
    for (int i = 0; i < count; ++i) {
      const auto label = static_cast<int>(random.next() % 10);
      labels += static_cast<char>(label);
      for (int y = 0; y < 28; ++y)
        for (int x = 0; x < 28; ++x) {
          const bool bright = y / 5 == label / 2 && x / 14 == label % 2;
          images += static_cast<char>((bright ? 150 : 0) + static_cast<int>(random.next() % 100));
        }
    }
    replace(prefix + "-images-idx3-ubyte", images);
    replace(prefix + "-labels-idx1-ubyte", labels);
  }

  TempDir directory_;
};

}  // namespace jabas::testing
