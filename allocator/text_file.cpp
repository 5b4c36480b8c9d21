#include "allocator/text_file.h"

#include <cerrno>
#include <fstream>
#include <iostream>
#include <sstream>

#include "allocator/error.h"

namespace jabas {

std::string read_text_file(const std::string& path, const std::string& what) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError("cannot open " + what, path, errno);
  std::ostringstream text;
  errno = 0;  // an empty file fails as well, without a cause
  text << file.rdbuf();
  if (file.bad() || (text.fail() && errno != 0)) throw IoError("cannot read " + what, path, errno);
  return text.str();
}

void write_text_file(const std::string& path, const std::string& text, const std::string& what) {
  if (path == "-") {
    std::cout << text << std::flush;
    if (!std::cout) throw IoError("cannot write " + what, "standard output", errno);
    return;
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) throw IoError("cannot open " + what, path, errno);
  file << text << std::flush;
  if (!file) throw IoError("cannot write " + what, path, errno);
}

}  // namespace jabas
