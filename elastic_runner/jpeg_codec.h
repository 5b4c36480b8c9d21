// Decodes JPEG images; the only owner of libjpeg.
// Threads: any.   Errors: InputError with the reason alone; the caller names the file.
#pragma once

#include <cstdint>
#include <span>

#include "elastic_runner/rgb_image.h"

namespace jabas {

bool is_jpeg(std::span<const std::uint8_t> bytes);
// The header only: no pixels in the result. `bytes` may be the beginning of a file.
RgbImage jpeg_header(std::span<const std::uint8_t> bytes);
// At 1/reduction of its size (1, 2, 4 or 8), rounded up: libjpeg then decodes less. A picture that
// ends early is an error.
RgbImage decode_jpeg(std::span<const std::uint8_t> bytes, int reduction);

}  // namespace jabas
