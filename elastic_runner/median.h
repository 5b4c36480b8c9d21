// The median of measured times; of an even number of them the upper one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace jabas {

// Of at least one value.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace jabas
