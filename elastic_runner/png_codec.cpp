#include "elastic_runner/png_codec.h"

#include <png.h>

#include "allocator/error.h"

namespace jabas {
namespace {

// libpng's own description of an image being read.
class Reading {
 public:
  explicit Reading(std::span<const std::uint8_t> bytes) {
    image_.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image_, bytes.data(), bytes.size()))
      throw InputError(image_.message);
    image_.format = PNG_FORMAT_RGB;
  }
  ~Reading() { png_image_free(&image_); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  RgbImage size() const {
    return {static_cast<int>(image_.width), static_cast<int>(image_.height), {}};
  }
  void read(std::uint8_t* pixels) {
    const png_color black{0, 0, 0};
    if (!png_image_finish_read(&image_, &black, pixels, 0, nullptr))
      throw InputError(image_.message);
  }

 private:
  png_image image_{};
};

}  // namespace

bool is_png(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 8 && png_sig_cmp(bytes.data(), 0, 8) == 0;
}

RgbImage png_header(std::span<const std::uint8_t> bytes) { return Reading(bytes).size(); }

RgbImage decode_png(std::span<const std::uint8_t> bytes) {
  Reading reading(bytes);
  RgbImage image = reading.size();
  image.pixels.resize(std::size_t(image.width) * std::size_t(image.height) * 3);
  reading.read(image.pixels.data());
  return image;
}

}  // namespace jabas
