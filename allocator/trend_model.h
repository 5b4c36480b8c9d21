// What a series will do next by its own recent past: a level, a slope and how fast the slope fades.
//   ahead(h) = level + slope·(φ + φ² + … + φ^h)        (Gardner & McKenzie 1985; φ = 1: a line)
// Two ways to get there, each in B or in log B (a constant factor per interval is a line there):
//   damped trend: exponential smoothing of level and slope, gains per interval;
//   local linear: least squares over the last `window` values, φ = 1.
// With a slope gain of 0 the damped trend is simple exponential smoothing.
// Units: time in intervals between adjustments (real numbers: uneven steps are fine).   Pure.
#pragma once

#include <string>
#include <vector>

namespace jabas {

struct TrendState {
  double level = 0, slope = 0, damping = 1;
  double ahead(double intervals) const;
};

struct TrendModel {
  enum class Kind { kDamped, kLocalLinear };
  Kind kind = Kind::kDamped;
  bool logarithmic = false;                            // the series is log B
  double level_gain = 1, slope_gain = 0, damping = 1;  // damped trend; 0 ≤ gains ≤ 1, 0 < φ ≤ 1
  int window = 0;                                      // local linear; at least 2

  // "damped trend in log B", "local linear", "smoothed level"
  std::string name() const;
};

struct TimedValue {
  double time = 0, value = 0;
};

// The state after each value, having seen only the values up to it. Times ascend strictly.
std::vector<TrendState> trend_states(const TrendModel& model,
                                     const std::vector<TimedValue>& series);

}  // namespace jabas
