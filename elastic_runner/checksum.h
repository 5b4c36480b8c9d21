// CRC-64/XZ (ECMA-182 polynomial, reflected) of files and memory: finds torn and bit-flipped
// checkpoints. Not a protection against intent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace jabas {

// Continues from `crc` (0 at the start).
std::uint64_t crc64(const void* data, std::size_t bytes, std::uint64_t crc = 0);

struct FileChecksum {
  std::uint64_t bytes = 0, crc = 0;
  bool operator==(const FileChecksum&) const = default;
};
// IoError naming the path.
FileChecksum checksum_of_file(const std::string& path);

}  // namespace jabas
