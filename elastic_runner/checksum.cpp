#include "elastic_runner/checksum.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "allocator/error.h"

namespace jabas {
namespace {

constexpr std::array<std::uint64_t, 256> make_table() {
  constexpr std::uint64_t kPolynomial = 0xc96c5795d7870f42ULL;
  std::array<std::uint64_t, 256> table{};
  for (std::uint64_t byte = 0; byte < 256; ++byte) {
    std::uint64_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
    table[byte] = value;
  }
  return table;
}
constexpr auto kTable = make_table();

}  // namespace

std::uint64_t crc64(const void* data, std::size_t bytes, std::uint64_t crc) {
  const auto* next = static_cast<const unsigned char*>(data);
  crc = ~crc;
  for (std::size_t i = 0; i < bytes; ++i) crc = kTable[(crc ^ next[i]) & 0xff] ^ (crc >> 8);
  return ~crc;
}

FileChecksum checksum_of_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw IoError("cannot open", path, errno);
  FileChecksum sum;
  std::vector<char> block(1 << 20);
  while (true) {
    const ssize_t count = ::read(fd, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int error = errno;
      ::close(fd);
      if (count < 0) throw IoError("cannot read", path, error);
      return sum;
    }
    sum.crc = crc64(block.data(), std::size_t(count), sum.crc);
    sum.bytes += std::uint64_t(count);
  }
}

}  // namespace jabas
