// One array in NumPy's file format, versions 1.0 to 3.0, memory-mapped: uint8, int32, int64,
// float32 or float64, little endian, C order.
// Source: numpy.lib.format's documentation.
// Threads: const, safe to share.   Errors: InputError naming file and reason.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elastic_runner/mapped_file.h"

namespace jabas {

class NpyFile {
 public:
  enum class Type { kUint8, kInt32, kInt64, kFloat32, kFloat64 };

  explicit NpyFile(const std::string& path);

  const std::string& path() const { return file_.path(); }
  Type type() const { return type_; }
  bool whole_numbers() const { return type_ < Type::kFloat32; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::string shape_text() const;  // as NumPy prints it
  // Along the first dimension.
  std::int64_t rows() const { return shape_.empty() ? 1 : shape_.front(); }
  std::int64_t numbers_per_row() const { return row_; }
  // Copies one row, converted to T.
  template <typename T>
  void read_row(std::int64_t row, T* to) const;

 private:
  void parse_header();

  MappedFile file_;
  Type type_ = Type::kUint8;
  std::vector<std::int64_t> shape_;
  std::int64_t row_ = 1;
  std::size_t begin_ = 0;  // of the data
};

extern template void NpyFile::read_row(std::int64_t, float*) const;
extern template void NpyFile::read_row(std::int64_t, double*) const;
extern template void NpyFile::read_row(std::int64_t, std::int64_t*) const;

}  // namespace jabas
