#include "elastic_runner/idx_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "allocator/error.h"

namespace jabas {
namespace {

constexpr std::uint32_t kUnsignedByte =
    0x08;  // third byte of the magic; the fourth counts dimensions
constexpr std::size_t kReadBytes = 1 << 20;

std::string hex(std::uint32_t value) {
  char text[11];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

// zlib reads plain files through the same calls.
class GzFile {
 public:
  explicit GzFile(const std::string& path) : path_(path), file_(gzopen(path.c_str(), "rb")) {
    if (!file_) refuse(std::string("cannot be opened: ") + std::strerror(errno));
  }

  // Appends up to `bytes`; fewer are left only at the end of the file.
  void read(std::vector<std::uint8_t>& out, std::size_t bytes) {
    while (bytes > 0) {
      const std::size_t begin = out.size(), wanted = std::min(bytes, kReadBytes);
      out.resize(begin + wanted);
      const int got = gzread(file_.get(), out.data() + begin, static_cast<unsigned>(wanted));
      int code = Z_OK;
      const std::string text = gzerror(file_.get(), &code);
      // A compressed stream that just stops is Z_BUF_ERROR: truncated, which the caller reports
      // with its sizes.
      if (got < 0 && code != Z_BUF_ERROR)
        refuse("cannot be read: " + (code == Z_ERRNO ? std::strerror(errno) : without_path(text)));
      out.resize(begin + static_cast<std::size_t>(std::max(got, 0)));
      if (got < static_cast<int>(wanted)) return;
      bytes -= wanted;
    }
  }

  // zlib begins its messages with the path.
  std::string without_path(const std::string& text) const {
    return text.starts_with(path_ + ": ") ? text.substr(path_.size() + 2) : text;
  }

  std::uint32_t read_big_endian() {
    std::vector<std::uint8_t> bytes;
    read(bytes, 4);
    if (bytes.size() < 4) refuse("truncated: ends in its header");
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
           std::uint32_t{bytes[2]} << 8 | bytes[3];
  }

  [[noreturn]] void refuse(const std::string& reason) const {
    throw InputError(path_ + ": " + reason);
  }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose(file); }
  };
  const std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

std::string existing(const std::string& path) {
  for (const auto& candidate : {path, path + ".gz"})
    if (std::filesystem::exists(candidate)) return candidate;
  throw InputError(path + ": not found, neither plain nor as .gz");
}

}  // namespace

IdxArray read_idx(const std::string& path, int dimensions) {
  IdxArray array;
  array.path = existing(path);
  GzFile file(array.path);
  const auto expected_magic = kUnsignedByte << 8 | static_cast<std::uint32_t>(dimensions);
  const auto magic = file.read_big_endian();
  if (magic != expected_magic)
    file.refuse("wrong magic " + hex(magic) + ", expected " + hex(expected_magic));
  std::size_t bytes = 1;
  for (int i = 0; i < dimensions; ++i) {
    array.shape.push_back(file.read_big_endian());
    bytes *= static_cast<std::size_t>(array.shape.back());
  }
  file.read(array.values, bytes);
  if (array.values.size() < bytes)
    file.refuse("truncated: " + std::to_string(array.values.size()) + " of " +
                std::to_string(bytes) + " bytes of data");
  std::vector<std::uint8_t> beyond;
  file.read(beyond, 1);
  if (!beyond.empty())
    file.refuse("longer than its header says (" + std::to_string(bytes) + " bytes of data)");
  return array;
}

}  // namespace jabas
