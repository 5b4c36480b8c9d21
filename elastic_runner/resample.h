// Scales a part of an image to a square, each target pixel a weighted mean of the source pixels
// under it (triangle filter as wide as the reduction, so nothing aliases).
// Whole-number arithmetic: the same bytes on every machine. Pure.
#pragma once

#include <cstdint>

#include "elastic_runner/augmentation.h"
#include "elastic_runner/rgb_image.h"

namespace jabas {

// `view` in pixels of `image`, inside it up to rounding. Writes three planes of size × size bytes.
void resample(const RgbImage& image, const ImageView& view, int size, std::uint8_t* planes);

}  // namespace jabas
