#include "allocator/forecast_backtest.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>

#include "allocator/error.h"

namespace jabas {
namespace {

constexpr std::size_t kLeastRecords = 8;  // ±10 % at random goes one way 7 times in 1 of 64 runs
constexpr std::size_t kMaxOrigins = 128;  // earlier presents looked at
constexpr std::size_t kMaxTargets = 8;    // records forecast from each, spread over the horizon
constexpr double kHalfLifeHorizons = 2;   // of an earlier present's weight
constexpr double kEvidence = 1.5;         // c: the t at which nothing is believed
constexpr double kErrorFloor = 0.25;  // least standard deviation of a gain, in last-value errors
constexpr double kLeastGain = 0.1;    // of the last value's error
constexpr double kLeastGridWeight = 0.3;  // on a grid a trend is used from here on
constexpr double kLeastGrid = 0.01;       // finer grids, of the batch, make no difference
constexpr double kHalt = 0.1;             // of the least movement before counts as a halt
constexpr double kSameReach = 1e-9;

double from_scale(double value, bool logarithmic) {
  constexpr double kLargestLog = 40;  // keeps exp finite; bounds clip long before
  return logarithmic ? std::exp(std::min(value, kLargestLog)) : value;
}

double on_grid(double batch, double grid) {
  return grid > 0 ? std::max(grid, std::round(batch / grid) * grid) : std::max(batch, 1.0);
}

double error_of(double forecast, double actual) { return std::abs(forecast / actual - 1); }

double grid_of(const std::vector<TimedValue>& batches) {
  constexpr double kLargestWhole = 1e15;
  std::int64_t divisor = 0;
  for (const TimedValue& at : batches) {
    if (at.value != std::floor(at.value) || at.value > kLargestWhole) return 0;
    divisor = std::gcd(divisor, std::int64_t(at.value));
  }
  return double(divisor) >= kLeastGrid * batches.back().value ? double(divisor) : 0;
}

std::vector<TrendModel> all_models() {
  std::vector<TrendModel> models;
  for (const bool logarithmic : {false, true}) {
    for (const double level_gain : {0.3, 0.6, 1.0})
      for (const double slope_gain : {0.1, 0.3, 0.7})
        for (const double damping : {0.9, 0.98})
          models.push_back(
              {TrendModel::Kind::kDamped, logarithmic, level_gain, slope_gain, damping, 0});
    for (const int window : {3, 6, 12, 24, 48})
      models.push_back({TrendModel::Kind::kLocalLinear, logarithmic, 1, 0, 1, window});
  }
  for (const double level_gain : {0.15, 0.3, 0.6})
    models.push_back({TrendModel::Kind::kDamped, true, level_gain, 0, 1, 0});
  return models;
}

class BackTest {
 public:
  BackTest(const std::vector<TimedValue>& batches, double horizon)
      : batches_(batches), logs_(batches), horizon_(horizon), grid_(grid_of(batches)) {
    for (TimedValue& at : logs_) at.value = std::log(at.value);
    find_origins();
    const double records_per_interval =
        double(batches_.size() - 1) / (batches_.back().time - batches_.front().time);
    lag_ = std::max(1.0, horizon_ * records_per_interval);
    recent_ = std::size_t(std::max(3.0, std::ceil(lag_ / 2)));
  }

  // From the first of the earlier presents until now.
  double span() const { return batches_.back().time - batches_[origins_.front().record].time; }
  double grid() const { return grid_; }
  const std::vector<TimedValue>& series(bool logarithmic) const {
    return logarithmic ? logs_ : batches_;
  }

  // Largest change of log B within a horizon.
  double most_change() const {
    double most = 0;
    for (const Origin& origin : origins_)
      for (std::size_t j = origin.record + 1;
           j < logs_.size() && logs_[j].time - logs_[origin.record].time <= horizon_ + kSameReach;
           ++j)
        most = std::max(most, std::abs(logs_[j].value - logs_[origin.record].value));
    return most;
  }

  // How much better than the last value, discounted by the doubt; nothing if not clearly so.
  struct Worth {
    double gain = 0, weight = 0;
  };
  std::optional<Worth> worth(const TrendModel& model, const std::vector<TrendState>& states) const {
    std::vector<double> gains;
    double gain = 0;
    for (const Origin& origin : origins_) {
      double error = 0;
      for (const std::size_t target : origin.targets)
        error += trend_error(model, states, origin.record, target);
      gains.push_back(origin.last_error - error / double(origin.targets.size()));
      gain += origin.weight * gains.back();
    }
    gain /= weight_sum_;
    if (last_error_ == 0 || gain < kLeastGain * last_error_) return std::nullopt;
    const double doubt = kEvidence * kEvidence * variance(gains, gain) / (gain * gain);
    const double weight = (1 - doubt) * lately(model, states, gain);
    if (weight <= 0) return std::nullopt;
    return Worth{gain * weight, weight};
  }

 private:
  struct Origin {
    std::size_t record = 0;
    std::vector<std::size_t> targets;
    double last_error = 0;  // mean error of the last value over the targets
    double weight = 0;
  };

  void find_origins() {
    const std::size_t count = batches_.size();
    for (std::size_t i = count > kMaxOrigins + 1 ? count - 1 - kMaxOrigins : 1; i + 1 < count;
         ++i) {
      Origin origin{i, {}, 0, 0};
      std::size_t end = i + 2;
      while (end < count && batches_[end].time - batches_[i].time <= horizon_ + kSameReach) ++end;
      const std::size_t reached = end - i - 1, stride = (reached + kMaxTargets - 1) / kMaxTargets;
      for (std::size_t back = 0; back < reached; back += stride) {
        origin.targets.push_back(end - 1 - back);
        origin.last_error += error_of(batches_[i].value, batches_[end - 1 - back].value);
      }
      origin.last_error /= double(origin.targets.size());
      const double age = batches_.back().time - batches_[i].time;
      origin.weight = double(reached) * std::exp2(-age / (kHalfLifeHorizons * horizon_));
      weight_sum_ += origin.weight;
      square_sum_ += origin.weight * origin.weight;
      last_error_ += origin.weight * origin.last_error;
      origins_.push_back(std::move(origin));
    }
    last_error_ /= weight_sum_;
  }

  double trend_error(const TrendModel& model, const std::vector<TrendState>& states,
                     std::size_t origin, std::size_t target) const {
    const double ahead = states[origin].ahead(batches_[target].time - batches_[origin].time);
    return error_of(on_grid(from_scale(ahead, model.logarithmic), grid_), batches_[target].value);
  }

  // Of the mean gain. Gains less than a horizon apart depend on one another.
  double variance(std::vector<double> gains, double mean) const {
    for (std::size_t i = 0; i < gains.size(); ++i)
      gains[i] = origins_[i].weight * (gains[i] - mean);
    const std::size_t lag = std::size_t(lag_);
    double sum = 0;
    for (std::size_t i = 0; i < gains.size(); ++i)
      for (std::size_t k = 0; k <= lag && i + k < gains.size(); ++k)
        sum += (k == 0 ? 1 : 2) * (1 - double(k) / double(lag + 1)) * gains[i] * gains[i + k];
    const double independent = weight_sum_ * weight_sum_ / square_sum_ / lag_;
    const double floor = kErrorFloor * last_error_;
    return sum / (weight_sum_ * weight_sum_) + floor * floor / independent;
  }

  // 0..1: whether the gain of the last half horizon keeps up with half the gain of the whole past.
  double lately(const TrendModel& model, const std::vector<TrendState>& states, double gain) const {
    double last = 0, gained = 0;
    const std::size_t count = batches_.size();
    for (std::size_t i = std::max<std::size_t>(count - 1 - std::min(recent_, count - 1), 1);
         i + 1 < count; ++i)
      for (std::size_t j = i + 1; j < count; ++j) {
        const double last_error = error_of(batches_[i].value, batches_[j].value);
        last += last_error;
        gained += last_error - trend_error(model, states, i, j);
      }
    if (gained == 0 && last == 0) return 1;  // nothing moved, and it did not say so
    return gained <= 0 ? 0 : std::min(1.0, 2 * (gained / last) / (gain / last_error_));
  }

  const std::vector<TimedValue>& batches_;
  std::vector<TimedValue> logs_;
  double horizon_, grid_;
  double lag_ = 1;          // records in a horizon
  std::size_t recent_ = 3;  // records that count as lately
  std::vector<Origin> origins_;
  double weight_sum_ = 0, square_sum_ = 0, last_error_ = 0;
};

// Over some last stretch nothing moved, where every earlier stretch of that length did.
bool has_halted(const std::vector<TimedValue>& series, double slope, double horizon) {
  const std::size_t last = series.size() - 1;
  const double sign = slope > 0 ? 1 : -1;
  const auto moved = [&](std::size_t from, std::size_t records) {
    return sign * (series[from + records].value - series[from].value);
  };
  for (std::size_t k = 2; 4 * k <= last && double(k) <= std::max(2.0, horizon); ++k) {
    double least = moved(last - 4 * k, k);
    for (std::size_t i = last - 4 * k; i + 2 * k <= last; ++i) least = std::min(least, moved(i, k));
    if (least > 0 && moved(last - k, k) < kHalt * least) return true;
  }
  return false;
}

}  // namespace

double TrendChoice::ahead(double intervals) const {
  if (weight == 0) return last;
  const double trended = from_scale(trend.ahead(std::min(intervals, reach)), logarithmic);
  const double batch = last + weight * (trended - last);
  return on_grid(std::clamp(batch, last * std::exp(-most), last * std::exp(most)), grid);
}

TrendChoice choose_trend(const std::vector<TimedValue>& batches, double horizon) {
  JABAS_ASSERT(!batches.empty() && horizon >= 1, "nothing to choose a trend from or for");
  TrendChoice choice;
  choice.last = batches.back().value;
  if (batches.size() < kLeastRecords) return choice;

  static const std::vector<TrendModel> models = all_models();
  const BackTest test(batches, horizon);
  const TrendChoice last_value = choice;
  double best_gain = 0;
  for (const TrendModel& model : models) {
    if (std::size_t(std::max(model.window, 0)) > batches.size()) continue;
    const std::vector<TrendState> states = trend_states(model, test.series(model.logarithmic));
    const auto worth = test.worth(model, states);
    if (!worth || worth->gain <= best_gain) continue;
    best_gain = worth->gain;
    choice = {last_value.last, worth->weight,      states.back(), model.logarithmic,
              test.span(),     test.most_change(), test.grid(),   model.name()};
  }
  if (choice.weight > 0 && choice.grid > 0) choice.weight = choice.weight > kLeastGridWeight;
  if (choice.weight == 0 || (choice.trend.slope != 0 && has_halted(test.series(choice.logarithmic),
                                                                   choice.trend.slope, horizon)))
    return last_value;
  return choice;
}

}  // namespace jabas
