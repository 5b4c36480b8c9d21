// How many samples --subset leaves of a training set. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "allocator/error.h"

namespace jabas {

// subset 0 = all. Throws UsageError for more than there are.
inline std::int64_t subset_of(std::int64_t samples, std::int64_t subset) {
  if (subset < 0 || subset > samples)
    throw UsageError("--subset=" + std::to_string(subset) + ": the training set has " +
                     std::to_string(samples) + " samples");
  return subset == 0 ? samples : subset;
}

}  // namespace jabas
