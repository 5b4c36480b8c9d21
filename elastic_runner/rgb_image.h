// A decoded image: 8 bits for each of red, green and blue, row by row.
#pragma once

#include <cstdint>
#include <vector>

namespace jabas {

struct RgbImage {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;  // height × width × 3
};

}  // namespace jabas
