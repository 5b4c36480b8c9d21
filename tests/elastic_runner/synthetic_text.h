// A small text in a private directory: words of a short list in random order, so that most bytes
// can be learned from those before them.
#pragma once

#include <fstream>
#include <string>

#include "elastic_runner/random_stream.h"
#include "tests/support/temp_dir.h"

namespace jabas::testing {

class SyntheticText {
 public:
  explicit SyntheticText(std::size_t bytes = 8000) {
    RandomStream random({bytes});
    std::string text;
    while (text.size() < bytes) {
      static constexpr const char* kWords[] = {"gradient ", "batch ", "worker ", "epoch\n"};
      text += kWords[random.next() % 4];
    }
    write("text", text.substr(0, bytes));
  }
  std::string path() const { return directory_.path(); }
  std::string file(const std::string& name) const { return (directory_ / name).string(); }
  void write(const std::string& name, const std::string& content) const {
    std::ofstream(directory_ / name, std::ios::binary) << content;
  }

 private:
  TempDir directory_;
};

}  // namespace jabas::testing
