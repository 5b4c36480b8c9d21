// Forecasts the global batch from the adjustments of a run so far (shared design "model" 6).
//   last     the last value
//   paper    the mean of a Gaussian process and simple exponential smoothing, as published
//            (gaussian process: the mean of the last epoch's records, which it equals with points
//            further apart than its period unless it blows up)
//   default  one of last value, damped trend and local linear, in B and in log B, by what each
//   would
//            have been worth on this run's own past (forecast_backtest.h)
// Units: steps; batches in samples.   Pure; only the records given are used.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace jabas {

struct BatchRecord {
  std::int64_t step = 0;
  double batch = 0;  // above 0
};

struct BatchBounds {
  double min = 1, max = std::numeric_limits<double>::infinity();
  double clip(double batch) const;
};

struct BatchHistory {
  std::vector<BatchRecord> records;   // never empty; steps ascend strictly
  std::int64_t last_epoch_after = 0;  // records after this step are of the last epoch
  double horizon_steps = 0;           // how far ahead the forecast matters: the steps of an epoch
};

enum class ForecastMethod { kLast, kPaper, kDefault };
// "last", "paper", "default". Throws UsageError naming the value and what is accepted.
ForecastMethod parse_forecast_method(const std::string& text);

struct Forecast {
  std::vector<double> batches;  // at each step asked for
  std::string method;           // in words: "damped trend in log B"
};
// Always finite and inside the bounds.
Forecast forecast(const BatchHistory& history, const std::vector<std::int64_t>& steps,
                  const BatchBounds& bounds, ForecastMethod method);

}  // namespace jabas
