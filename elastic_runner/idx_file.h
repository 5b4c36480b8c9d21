// Reads one IDX file of unsigned bytes (the MNIST format), plain or gzip-compressed.
// Errors: InputError naming file and reason: not found, unreadable, wrong magic, truncated, longer
// than its header says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jabas {

struct IdxArray {
  std::string path;                 // the file that was read
  std::vector<std::int64_t> shape;  // first the number of samples
  std::vector<std::uint8_t> values;
};

// Reads `path`, or `path`.gz if there is no such file. It must have `dimensions` dimensions.
IdxArray read_idx(const std::string& path, int dimensions);

}  // namespace jabas
