// One image file, JPEG or PNG by its content: read whole, decoded when asked.
// Units: pixels.   Threads: const, safe to share.
// Errors: InputError naming file and reason: not readable, no JPEG or PNG, damaged, truncated,
//         more than kMostPixels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elastic_runner/rgb_image.h"

namespace jabas {

constexpr std::int64_t kMostPixels = std::int64_t{1} << 27;

class ImageFile {
 public:
  // Reads the file and its header.
  explicit ImageFile(const std::string& path);
  int width() const { return width_; }
  int height() const { return height_; }
  // Each side at least its share of 1/reduction (1, 2, 4 or 8); a PNG stays whole.
  RgbImage decode(int reduction) const;

 private:
  const std::string path_;
  std::vector<std::uint8_t> bytes_;
  int width_ = 0, height_ = 0;
};

// A cheap look at header and end: what it lets pass may still fail to decode. Reads little of the
// file.
void check_image_file(const std::string& path);

}  // namespace jabas
