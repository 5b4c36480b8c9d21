// Random changes of training images. Every draw comes from the stream given, so that the result
// depends on nothing else.
// Pure.
#pragma once

#include <cstdint>

#include "elastic_runner/random_stream.h"

namespace jabas {

// Moves the planes by up to 4 pixels in both directions, black behind them, and mirrors every other
// image (He et al. 2015, section 4.2: pad 4, crop, flip). Three draws.
void shift_and_flip(const std::uint8_t* from, std::int64_t channels, std::int64_t rows,
                    std::int64_t columns, RandomStream& random, std::uint8_t* to);

// A part of an image, in its pixels, and whether it is seen in a mirror.
struct ImageView {
  double left = 0, top = 0, width = 0, height = 0;
  bool mirrored = false;
};

// A part of 8 to 100 % of the area with an aspect ratio of 3/4 to 4/3 (Szegedy et al. 2015), and
// every other time mirrored. The largest such part around the centre if ten draws do not fit.
ImageView random_view(int width, int height, RandomStream& random);

// The square around the centre with 7/8 of the shorter side: scaling the shorter side to 256 and
// cutting out 224, at any size.
ImageView centre_view(int width, int height);

}  // namespace jabas
