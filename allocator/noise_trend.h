// How the ratio of gradient noise to gradient (grad_var / grad_sqr) goes on over the rest of a run
// (shared design "model" 6), by the run's own past.
//
// The ratio mostly grows by powers of what was done so far (doubling the progress multiplies it by
// about the same factor each time), so its past is looked at over the logarithm of progress: there
// a power is a line, and the rest of a run is a few times its past instead of hundreds of
// intervals. How far a trend is believed is for the back-test to say (forecast_backtest.h); beyond
// the growth that was seen nothing is forecast. While there are too few records for a back-test a
// square root of progress is assumed, less with each record: over a training the noise scale grows
// by about a decade or more (McCandlish et al., "An Empirical Model of Large-Batch Training",
// 2018). Units: progress in steps at the smallest batch.   Pure.
#pragma once

#include <string>
#include <vector>

#include "allocator/forecast_backtest.h"

namespace jabas {

struct NoiseRecord {
  double progress = 0;  // so far, above 0
  double ratio = 0;     // above 0
};

class NoiseTrend {
 public:
  // `records`: not empty, by ascending progress. `ahead`: progress that is left. Growth is assumed
  // from `settling` units of progress on.
  NoiseTrend(const std::vector<NoiseRecord>& records, double ahead, double settling);
  // Before anything was recorded: `ratio` is what holds at the begin of the run.
  static NoiseTrend at_start(double ratio, double settling);

  double ratio(double ahead) const;  // after so much more progress
  bool moves() const { return assumed_power_ > 0 || choice_.weight > 0; }
  double progress() const { return progress_; }  // so far
  const std::string& method() const { return method_; }

 private:
  NoiseTrend() = default;
  double progress_ = 1;
  TrendChoice choice_;
  double scale_ = 1;  // of the ratios in choice_
  double assumed_power_ = 0;
  std::string method_;
};

}  // namespace jabas
