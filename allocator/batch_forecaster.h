// Says which global batches the run will want (shared design "model" 6): for the next epoch piece
// by piece, afterwards the last one. A trend of the batch is trusted for the next epoch only: later
// epochs have the batch at its end. With goodput every set of GPUs takes a batch of its own: then
// the ratio of noise to gradient is forecast, for the rest of the run (noise_trend.h).   Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/forecast_methods.h"
#include "allocator/scaling_policy.h"

namespace jabas {

struct ForecastSegment {
  double wanted_batch = 0;
  std::int64_t samples = 0;  // of the epoch, consumed at this batch
  double noise_ratio = 0;    // grad_var / grad_sqr expected there; 0 = the state's
};
// The noise after the next epoch. Progress in steps at batch_min.
struct LaterNoise {
  double until = 0;  // so much progress from now on
  double noise_ratio = 0;
};
struct BatchForecast {
  std::vector<ForecastSegment> next_epoch;  // never empty, at most 50; together the whole epoch
  double later_batch = 0;                   // of every epoch after the next
  double later_noise_ratio = 0;             // as in the segments, where `later` says nothing else
  // "fixed" when the batch does not adapt, else as Forecast::method says.
  std::string method;
  std::vector<LaterNoise> later = {};  // at most 8, ascending; the last one holds to the end
};
BatchForecast forecast_batch(const DecisionState& state);

// How far a forecast was off: the mean of |forecast / B − 1| over the adjustments of the epoch it
// was made for, steps counted from the epoch's begin. Nothing when there was no adjustment.
std::optional<double> forecast_error(const BatchForecast& forecast,
                                     const std::vector<BatchRecord>& came);

}  // namespace jabas
