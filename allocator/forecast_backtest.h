// Chooses how to go on from a run's batches so far by what each way would have been worth on the
// run's own past: every earlier record is taken as the present and the records up to one horizon
// after it as what was to be forecast.
//   gain     = mean over all earlier presents of (error of the last value − error of the trend), in
//              relative terms; presents lose half their weight every two horizons
//   weight w = 1 − (c/t)², t = gain / its standard error (Bartlett's, since neighbouring presents
//              share what they forecast): a trend is believed as far as its gain is beyond chance
//   forecast = last + w·(trend − last)
// A trend that beat the last value less lately than before is believed less, and one that has come
// to a halt not at all. Batches that are all multiples of something are forecast on that grid,
// where a shrunk step would round away: there it is all or nothing. Units: time in intervals
// between adjustments.   Pure and deterministic.
#pragma once

#include <string>
#include <vector>

#include "allocator/trend_model.h"

namespace jabas {

struct TrendChoice {
  double last = 0;    // the last value
  double weight = 0;  // of the trend against it, 0..1
  TrendState trend;
  bool logarithmic = false;  // the trend is of log B
  double reach = 0;          // what lies further ahead is taken to be as there
  double most = 0;           // largest |log(forecast / last)|
  double grid = 0;           // forecasts are multiples of it; 0: any number
  std::string method = "last value";

  double ahead(double intervals) const;
};

// `batches`: not empty, times ascending, values above 0. `horizon`: how far ahead it matters, at
// least 1.
TrendChoice choose_trend(const std::vector<TimedValue>& batches, double horizon);

}  // namespace jabas
