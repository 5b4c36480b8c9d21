// Decodes PNG images; the only owner of libpng.
// Threads: any.   Errors: InputError with the reason alone; the caller names the file.
#pragma once

#include <cstdint>
#include <span>

#include "elastic_runner/rgb_image.h"

namespace jabas {

bool is_png(std::span<const std::uint8_t> bytes);
// The header only: no pixels in the result. `bytes` may be the beginning of a file.
RgbImage png_header(std::span<const std::uint8_t> bytes);
// Transparent pixels on black.
RgbImage decode_png(std::span<const std::uint8_t> bytes);

}  // namespace jabas
