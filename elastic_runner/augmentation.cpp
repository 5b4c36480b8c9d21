#include "elastic_runner/augmentation.h"

#include <algorithm>
#include <cmath>

namespace jabas {
namespace {

constexpr std::int64_t kShift = 4;
constexpr double kLeastArea = 0.08, kMostAspect = 4.0 / 3;

// Whole numbers low … high.
std::int64_t between(std::int64_t low, std::int64_t high, RandomStream& random) {
  return low +
         static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(high - low + 1));
}

double between(double low, double high, RandomStream& random) {
  return low + (high - low) * double(random.uniform());
}

}  // namespace

void shift_and_flip(const std::uint8_t* from, std::int64_t channels, std::int64_t rows,
                    std::int64_t columns, RandomStream& random, std::uint8_t* to) {
  const std::int64_t down = between(-kShift, kShift, random),
                     right = between(-kShift, kShift, random);
  const bool mirrored = random.next() % 2 == 1;
  std::fill_n(to, channels * rows * columns, std::uint8_t{0});
  const std::int64_t first = std::max<std::int64_t>(0, right),
                     last = std::min(columns, columns + right);
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    for (std::int64_t row = std::max<std::int64_t>(0, down); row < std::min(rows, rows + down);
         ++row) {
      const std::uint8_t* source = from + (channel * rows + row - down) * columns;
      std::uint8_t* target = to + (channel * rows + row) * columns;
      if (mirrored)
        std::reverse_copy(source + (first - right), source + (last - right),
                          target + (columns - last));
      else
        std::copy(source + (first - right), source + (last - right), target + first);
    }
  }
}

ImageView random_view(int width, int height, RandomStream& random) {
  const bool mirrored = random.next() % 2 == 1;
  const double area = double(width) * double(height);
  for (int draw = 0; draw < 10; ++draw) {
    const double part = area * between(kLeastArea, 1.0, random);
    const double aspect = std::exp(between(-std::log(kMostAspect), std::log(kMostAspect), random));
    const double wide = std::sqrt(part * aspect), high = std::sqrt(part / aspect);
    if (wide > width || high > height) continue;
    const double left = between(0.0, width - wide, random),
                 top = between(0.0, height - high, random);
    return {left, top, wide, high, mirrored};
  }
  const double wide = std::min<double>(width, height * kMostAspect),
               high = std::min<double>(height, width * kMostAspect);
  return {(width - wide) / 2, (height - high) / 2, wide, high, mirrored};
}

ImageView centre_view(int width, int height) {
  const double side = std::min(width, height) * 7.0 / 8;
  return {(width - side) / 2, (height - side) / 2, side, side, false};
}

}  // namespace jabas
