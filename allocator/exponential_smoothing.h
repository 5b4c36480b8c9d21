// Simple exponential smoothing, l ← l + α·(y − l), with the gain α in [0, 1] and the first level
// that leave the least squared one-step error (as the published reference fits it). Pure.
#pragma once

#include <vector>

namespace jabas {

// The last level, which is the forecast for every later value. `values` is not empty.
double smoothed_level(const std::vector<double>& values);

}  // namespace jabas
