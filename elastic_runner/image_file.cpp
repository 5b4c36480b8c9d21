#include "elastic_runner/image_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

#include "allocator/error.h"
#include "elastic_runner/jpeg_codec.h"
#include "elastic_runner/mapped_file.h"
#include "elastic_runner/png_codec.h"

namespace jabas {
namespace {

using Bytes = std::span<const std::uint8_t>;

// The end marker of a JPEG may be followed by a little more; a PNG's is at the very end.
constexpr std::size_t kJpegTail = 4096;
constexpr std::uint8_t kPngEnd[] = {'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};

// Runs `work`, whose errors lack the file's name.
template <typename Work>
auto with_name(const std::string& path, const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    throw InputError(path + ": " + error.what());
  }
}

RgbImage header_of(Bytes bytes) {
  if (bytes.empty()) throw InputError("is empty");
  if (!is_jpeg(bytes) && !is_png(bytes)) throw InputError("is neither JPEG nor PNG");
  const RgbImage image = is_jpeg(bytes) ? jpeg_header(bytes) : png_header(bytes);
  if (std::int64_t(image.width) * image.height > kMostPixels)
    throw InputError("has " + std::to_string(image.width) + "x" + std::to_string(image.height) +
                     " pixels; accepted are at most " + std::to_string(kMostPixels));
  return image;
}

bool has_end(Bytes bytes) {
  if (is_png(bytes))
    return bytes.size() >= sizeof kPngEnd &&
           std::equal(std::begin(kPngEnd), std::end(kPngEnd), bytes.end() - sizeof kPngEnd);
  const Bytes tail = bytes.last(std::min(bytes.size(), kJpegTail));
  constexpr std::uint8_t kEnd[] = {0xff, 0xd9};
  return std::search(tail.begin(), tail.end(), std::begin(kEnd), std::end(kEnd)) != tail.end();
}

}  // namespace

ImageFile::ImageFile(const std::string& path) : path_(path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? std::streamoff(file.tellg()) : -1;
  if (size >= 0 && size < std::streamoff(1) << 40) {
    bytes_.resize(static_cast<std::size_t>(size));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(bytes_.data()), size);
  }
  if (size < 0 || !file) throw InputError(path + ": cannot be read: " + std::strerror(errno));
  const RgbImage header = with_name(path, [&] { return header_of(bytes_); });
  width_ = header.width;
  height_ = header.height;
}

RgbImage ImageFile::decode(int reduction) const {
  return with_name(
      path_, [&] { return is_jpeg(bytes_) ? decode_jpeg(bytes_, reduction) : decode_png(bytes_); });
}

void check_image_file(const std::string& path) {
  const MappedFile file(path);
  const Bytes bytes(file.data(), file.size());
  with_name(path, [&] {
    header_of(bytes);
    if (!has_end(bytes)) throw InputError("truncated: its end is missing");
  });
}

}  // namespace jabas
