#include "allocator/trend_model.h"

#include <algorithm>
#include <cmath>

#include "allocator/error.h"

namespace jabas {
namespace {

// A gain per interval over another length of time.
double over(double gain, double intervals) {
  return intervals == 1 ? gain : 1 - std::pow(1 - gain, intervals);
}

std::vector<TrendState> damped_states(const TrendModel& model,
                                      const std::vector<TimedValue>& series) {
  std::vector<TrendState> states;
  states.reserve(series.size());
  TrendState state{series.front().value, 0, model.damping};
  states.push_back(state);
  for (std::size_t i = 1; i < series.size(); ++i) {
    const double gap = series[i].time - series[i - 1].time;
    const double expected = state.ahead(gap);
    const double faded =
        gap == 1 ? state.slope * model.damping : state.slope * std::pow(model.damping, gap);
    const double level = expected + over(model.level_gain, gap) * (series[i].value - expected);
    // The first change is all that is known of the slope.
    const double slope_gain =
        model.slope_gain == 0 ? 0 : std::max(over(model.slope_gain, gap), 1.0 / double(i));
    state.slope = faded + slope_gain * ((level - state.level) / gap - faded);
    state.level = level;
    states.push_back(state);
  }
  return states;
}

TrendState fitted_line(const TimedValue* first, const TimedValue* last) {
  const double count = double(last - first), end = (last - 1)->time;
  double time_sum = 0, value_sum = 0;
  for (const TimedValue* at = first; at != last; ++at) {
    time_sum += at->time - end;
    value_sum += at->value;
  }
  const double time_mean = time_sum / count, value_mean = value_sum / count;
  double product = 0, square = 0;
  for (const TimedValue* at = first; at != last; ++at) {
    const double away = at->time - end - time_mean;
    product += away * (at->value - value_mean);
    square += away * away;
  }
  const double slope = square > 0 ? product / square : 0;
  return {value_mean - slope * time_mean, slope, 1};
}

std::vector<TrendState> linear_states(const TrendModel& model,
                                      const std::vector<TimedValue>& series) {
  std::vector<TrendState> states;
  states.reserve(series.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::size_t from = i + 1 > std::size_t(model.window) ? i + 1 - model.window : 0;
    states.push_back(fitted_line(series.data() + from, series.data() + i + 1));
  }
  return states;
}

}  // namespace

double TrendState::ahead(double intervals) const {
  if (slope == 0) return level;
  if (damping == 1) return level + slope * intervals;
  return level + slope * damping * (1 - std::pow(damping, intervals)) / (1 - damping);
}

std::string TrendModel::name() const {
  const std::string scale = logarithmic ? " in log B" : " in B";
  if (kind == Kind::kLocalLinear) return "local linear" + scale;
  return (slope_gain == 0 ? "smoothed level" : "damped trend") + scale;
}

std::vector<TrendState> trend_states(const TrendModel& model,
                                     const std::vector<TimedValue>& series) {
  JABAS_ASSERT(!series.empty(), "a trend of no values");
  return model.kind == TrendModel::Kind::kDamped ? damped_states(model, series)
                                                 : linear_states(model, series);
}

}  // namespace jabas
