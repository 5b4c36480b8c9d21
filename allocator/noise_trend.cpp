#include "allocator/noise_trend.h"

#include <algorithm>
#include <cmath>

#include "allocator/error.h"

namespace jabas {
namespace {

constexpr double kCellsPerFold = 8;    // records are thinned to so many per factor e of progress
constexpr double kLongestHorizon = 1;  // that a trend is tested over, in factors e of progress
constexpr double kAssumedPower = 0.5;
constexpr double kEnoughRecords = 8;  // for a back-test
constexpr double kLeastValue = 1e6;   // far above 1, below which forecasts of batches do not go

double cells(double progress) { return kCellsPerFold * std::log(progress); }

}  // namespace

NoiseTrend::NoiseTrend(const std::vector<NoiseRecord>& records, double ahead, double settling) {
  JABAS_ASSERT(!records.empty(), "a trend of no noise");
  progress_ = records.back().progress;
  double least = records.front().ratio;
  for (const NoiseRecord& record : records) least = std::min(least, record.ratio);
  scale_ = kLeastValue / least;
  // Of each cell the last record; the newest one is the present.
  std::vector<TimedValue> series;
  for (const NoiseRecord& record : records) {
    const double cell = std::floor(cells(record.progress));
    if (!series.empty() && series.back().time == cell)
      series.back().value = record.ratio * scale_;
    else
      series.push_back({cell, record.ratio * scale_});
  }
  const double left = cells(progress_ + std::max(ahead, 0.0)) - cells(progress_);
  choice_ = choose_trend(series, std::clamp(left, 1.0, kLongestHorizon * kCellsPerFold));
  method_ = choice_.method;
  if (double(series.size()) >= kEnoughRecords) return;
  assumed_power_ = kAssumedPower * (1 - double(series.size()) / kEnoughRecords);
  method_ = "assumed growth";
  progress_ = std::max(progress_, settling);
}

NoiseTrend NoiseTrend::at_start(double ratio, double settling) {
  NoiseTrend trend;
  trend.progress_ = std::max(settling, 1.0);
  trend.choice_.last = ratio;
  trend.assumed_power_ = kAssumedPower;
  trend.method_ = "assumed growth";
  return trend;
}

double NoiseTrend::ratio(double ahead) const {
  const double factor = 1 + std::max(ahead, 0.0) / progress_;
  if (assumed_power_ > 0) return choice_.last / scale_ * std::pow(factor, assumed_power_);
  return choice_.ahead(kCellsPerFold * std::log(factor)) / scale_;
}

}  // namespace jabas
