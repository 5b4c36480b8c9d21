#include "elastic_runner/resample.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace jabas {
namespace {

constexpr int kBits = 15;

// What one target pixel takes: whole-number weights that sum to 2^kBits.
struct Taps {
  int first = 0;
  std::vector<std::int32_t> weights;
};

// Along one side: `size` target pixels over begin … begin + length of `available` source pixels.
std::vector<Taps> taps_of(double begin, double length, int available, int size) {
  const double scale = length / size, reach = std::max(scale, 1.0);
  std::vector<Taps> all(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    const double centre = begin + (i + 0.5) * scale;
    const int first = std::clamp(int(std::floor(centre - reach + 0.5)), 0, available - 1);
    const int last = std::clamp(int(std::floor(centre + reach + 0.5)), first + 1, available);
    std::vector<double> weights;
    double sum = 0;
    for (int x = first; x < last; ++x) {
      weights.push_back(std::max(0.0, 1 - std::abs(x + 0.5 - centre) / reach));
      sum += weights.back();
    }
    Taps& taps = all[static_cast<std::size_t>(i)];
    taps.first = first;
    std::int32_t left = 1 << kBits;
    for (const double weight : weights) {
      const double share = sum > 0 ? weight / sum : 1.0 / double(weights.size());
      taps.weights.push_back(static_cast<std::int32_t>(std::lround(share * (1 << kBits))));
      left -= taps.weights.back();
    }
    *std::max_element(taps.weights.begin(), taps.weights.end()) += left;
  }
  return all;
}

std::uint8_t rounded(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp((sum + (1 << (kBits - 1))) >> kBits, 0, 255));
}

}  // namespace

void resample(const RgbImage& image, const ImageView& view, int size, std::uint8_t* planes) {
  const auto across = taps_of(view.left, view.width, image.width, size);
  const auto down = taps_of(view.top, view.height, image.height, size);
  // First along the rows that are needed, to planes of `size` columns.
  const int first_row = down.front().first;
  const int rows = down.back().first + int(down.back().weights.size()) - first_row;
  std::vector<std::uint8_t> narrow(std::size_t(rows) * std::size_t(size) * 3);
  std::uint8_t* to = narrow.data();
  for (int row = 0; row < rows; ++row) {
    const std::uint8_t* from =
        image.pixels.data() + std::size_t(first_row + row) * std::size_t(image.width) * 3;
    for (const Taps& taps : across) {
      std::int32_t sum[3] = {0, 0, 0};
      const std::uint8_t* pixel = from + taps.first * 3;
      for (const auto weight : taps.weights) {
        for (int channel = 0; channel < 3; ++channel) sum[channel] += weight * pixel[channel];
        pixel += 3;
      }
      for (const auto value : sum) *to++ = rounded(value);
    }
  }
  std::vector<std::int32_t> sums(std::size_t(size) * 3);
  for (int y = 0; y < size; ++y) {
    const Taps& taps = down[static_cast<std::size_t>(y)];
    std::fill(sums.begin(), sums.end(), 0);
    for (std::size_t k = 0; k < taps.weights.size(); ++k) {
      const std::uint8_t* from =
          narrow.data() + (std::size_t(taps.first - first_row) + k) * sums.size();
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += taps.weights[k] * from[i];
    }
    for (int x = 0; x < size; ++x)
      for (int channel = 0; channel < 3; ++channel)
        planes[(channel * size + y) * size + (view.mirrored ? size - 1 - x : x)] =
            rounded(sums[std::size_t(x) * 3 + std::size_t(channel)]);
  }
}

}  // namespace jabas
