#include "allocator/forecast_methods.h"

#include <algorithm>
#include <cmath>

#include "allocator/error.h"
#include "allocator/exponential_smoothing.h"
#include "allocator/forecast_backtest.h"

namespace jabas {
namespace {

// Time in intervals between adjustments.
class Clock {
 public:
  explicit Clock(const std::vector<BatchRecord>& records) : last_(records.back().step) {
    std::vector<std::int64_t> gaps;
    for (std::size_t i = 1; i < records.size(); ++i)
      gaps.push_back(records[i].step - records[i - 1].step);
    if (gaps.empty()) return;
    const auto middle = gaps.begin() + std::ptrdiff_t((gaps.size() - 1) / 2);
    std::nth_element(gaps.begin(), middle, gaps.end());
    interval_ = double(*middle);
    regular_ =
        std::all_of(gaps.begin(), gaps.end(), [&](std::int64_t gap) { return gap % *middle == 0; });
  }
  double time(std::int64_t step) const { return double(step - last_) / interval_; }
  // Between two adjustments the batch stays as it is.
  double ahead(std::int64_t step) const {
    const double intervals = std::max(time(step), 0.0);
    return regular_ ? std::floor(intervals) : intervals;
  }
  double intervals(double steps) const { return steps / interval_; }

 private:
  std::int64_t last_;
  double interval_ = 1;
  bool regular_ = false;
};

double paper_forecast(const BatchHistory& history) {
  std::vector<double> values;
  double sum = 0;
  int count = 0;
  for (const BatchRecord& record : history.records) {
    values.push_back(record.batch);
    if (record.step <= history.last_epoch_after) continue;
    sum += record.batch;
    ++count;
  }
  const double mean = count > 0 ? sum / count : values.back();
  return (mean + smoothed_level(values)) / 2;
}

}  // namespace

double BatchBounds::clip(double batch) const { return std::max(std::min(batch, max), min); }

ForecastMethod parse_forecast_method(const std::string& text) {
  if (text == "last") return ForecastMethod::kLast;
  if (text == "paper") return ForecastMethod::kPaper;
  if (text == "default") return ForecastMethod::kDefault;
  throw UsageError("forecast method '" + text +
                   "' is not known: accepted are last, paper, default");
}

Forecast forecast(const BatchHistory& history, const std::vector<std::int64_t>& steps,
                  const BatchBounds& bounds, ForecastMethod method) {
  JABAS_ASSERT(!history.records.empty(), "a forecast from no record");
  Forecast result;
  if (method == ForecastMethod::kDefault) {
    const Clock clock(history.records);
    std::vector<TimedValue> series;
    for (const BatchRecord& record : history.records)
      series.push_back({clock.time(record.step), record.batch});
    const TrendChoice choice =
        choose_trend(series, std::max(1.0, clock.intervals(history.horizon_steps)));
    for (const std::int64_t step : steps)
      result.batches.push_back(bounds.clip(choice.ahead(clock.ahead(step))));
    result.method = choice.method;
    return result;
  }
  const bool paper = method == ForecastMethod::kPaper;
  const double batch = paper ? paper_forecast(history) : history.records.back().batch;
  result.batches.assign(steps.size(), bounds.clip(batch));
  result.method = paper ? "paper's ensemble" : "last value";
  return result;
}

}  // namespace jabas
