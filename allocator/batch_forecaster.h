// Says which global batches the run will want (shared design "model" 6): for the next epoch piece
// by piece, afterwards the last one. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocator/scaling_policy.h"

namespace jabas {

struct ForecastSegment {
  double wanted_batch = 0;
  std::int64_t samples = 0;  // of the epoch, consumed at this batch
  double noise_ratio = 0;    // grad_var / grad_sqr expected there; 0 = the state's
};
struct BatchForecast {
  std::vector<ForecastSegment> next_epoch;  // never empty; together the whole epoch
  double later_batch = 0;                   // of every epoch after the next
  double later_noise_ratio = 0;             // as in the segments
  std::string method;  // "last value", or "fixed" when the batch does not adapt
};
BatchForecast forecast_batch(const DecisionState& state);

}  // namespace jabas
