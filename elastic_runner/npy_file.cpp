#include "elastic_runner/npy_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

#include "allocator/error.h"

namespace jabas {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLongestHeader = 65536;  // NumPy writes about 100 bytes

struct TypeName {
  const char* text;
  std::size_t bytes;
};
constexpr TypeName kTypes[] = {{"|u1", 1}, {"<i4", 4}, {"<i8", 8}, {"<f4", 4}, {"<f8", 8}};

// What stands behind a key of the header, a Python dictionary; "" if the key is not there.
std::string_view value_of(std::string_view header, std::string_view key) {
  const auto skip_spaces = [](std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
  };
  const std::size_t place = header.find(key);
  if (place == std::string_view::npos) return "";
  const std::string_view rest = skip_spaces(header.substr(place + key.size()));
  return rest.starts_with(':') ? skip_spaces(rest.substr(1)) : "";
}

}  // namespace

NpyFile::NpyFile(const std::string& path) : file_(path) {
  try {
    parse_header();
  } catch (const InputError& error) {
    throw InputError(path + ": " + error.what());
  }
}

void NpyFile::parse_header() {
  const std::string_view bytes(reinterpret_cast<const char*>(file_.data()), file_.size());
  if (!bytes.starts_with(kMagic)) throw InputError("wrong magic: no NumPy array (.npy)");
  const auto byte = [&](std::size_t i) -> std::size_t {
    if (i >= bytes.size()) throw InputError("truncated: ends in its header");
    return static_cast<std::uint8_t>(bytes[i]);
  };
  const std::size_t version = byte(6);
  byte(7);
  if (version < 1 || version > 3)
    throw InputError("version " + std::to_string(version) + " of the format; accepted are 1 to 3");
  std::size_t length = byte(8) | byte(9) << 8;
  begin_ = 10;
  if (version > 1) {
    length |= byte(10) << 16 | byte(11) << 24;
    begin_ = 12;
  }
  if (length > bytes.size() - begin_) throw InputError("truncated: ends in its header");
  if (length > kLongestHeader)
    throw InputError("a header of " + std::to_string(length) + " bytes; accepted are at most " +
                     std::to_string(kLongestHeader));
  const std::string_view header = bytes.substr(begin_, length);
  begin_ += length;

  // Types with fields are lists; those of ours are short texts.
  const std::string_view named = value_of(header, "'descr'");
  std::string type(named.substr(0, std::min<std::size_t>(named.find(','), 40)));
  std::replace_if(
      type.begin(), type.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  std::size_t item = 0;
  for (std::size_t i = 0; i < std::size(kTypes); ++i)
    if (type == "'" + std::string(kTypes[i].text) + "'") {
      type_ = static_cast<Type>(i);
      item = kTypes[i].bytes;
    }
  if (item == 0)
    throw InputError("numbers of type " + type +
                     "; accepted are uint8, int32, int64, float32 and float64, little endian");
  if (!value_of(header, "'fortran_order'").starts_with("False"))
    throw InputError("not in C order (numpy.ascontiguousarray gives that)");

  const std::string_view shapes = value_of(header, "'shape'");
  const std::string shape(shapes.substr(0, shapes.find(')')));
  if (!shape.starts_with('(') || shape.find_first_not_of("(0123456789, ") != std::string::npos)
    throw InputError("its header names no shape");
  std::size_t numbers = 1;
  const std::size_t most = (std::numeric_limits<std::size_t>::max() >> 2) / item;
  for (std::size_t i = shape.find_first_of("0123456789"); i != std::string::npos;
       i = shape.find_first_of("0123456789", i)) {
    std::size_t value = 0;
    for (; i < shape.size() && shape[i] >= '0' && shape[i] <= '9'; ++i) {
      value = value * 10 + static_cast<std::size_t>(shape[i] - '0');
      if (value > most)
        throw InputError("a dimension that is too large in its shape " + shape + ")");
    }
    if (value > 0 && numbers > most / value)
      throw InputError("too many numbers in its shape " + shape + ")");
    numbers *= value;
    shape_.push_back(static_cast<std::int64_t>(value));
    if (shape_.size() > 1) row_ *= static_cast<std::int64_t>(value);
  }
  const std::size_t found = bytes.size() - begin_, wanted = numbers * item;
  if (found < wanted)
    throw InputError("truncated: " + std::to_string(found) + " of " + std::to_string(wanted) +
                     " bytes of data");
  if (found > wanted)
    throw InputError("longer than its header says (" + std::to_string(wanted) + " bytes of data)");
}

std::string NpyFile::shape_text() const {
  std::string text = "(";
  for (std::size_t i = 0; i < shape_.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(shape_[i]);
  return text + (shape_.size() == 1 ? ",)" : ")");
}

template <typename T>
void NpyFile::read_row(std::int64_t row, T* to) const {
  JABAS_ASSERT(row >= 0 && row < rows(), "row " + std::to_string(row));
  const auto convert = [&]<typename From>(From value) {
    const std::uint8_t* from =
        file_.data() + begin_ + static_cast<std::size_t>(row * row_) * sizeof(From);
    for (std::int64_t i = 0; i < row_; ++i) {
      std::memcpy(&value, from + static_cast<std::size_t>(i) * sizeof(From), sizeof value);
      to[i] = static_cast<T>(value);
    }
  };
  switch (type_) {
    case Type::kUint8:
      return convert(std::uint8_t{});
    case Type::kInt32:
      return convert(std::int32_t{});
    case Type::kInt64:
      return convert(std::int64_t{});
    case Type::kFloat32:
      return convert(float{});
    case Type::kFloat64:
      return convert(double{});
  }
}

template void NpyFile::read_row(std::int64_t, float*) const;
template void NpyFile::read_row(std::int64_t, double*) const;
template void NpyFile::read_row(std::int64_t, std::int64_t*) const;

}  // namespace jabas
