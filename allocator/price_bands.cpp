// Bounds of SetEvaluator for the sets of a box by what their GPUs cost: within a step of time L and
// for a price the box's sets hold at most so many workers, a sum with counts between lo and hi as a
// knapsack whose last piece may be divided.
#include <algorithm>
#include <cmath>
#include <limits>

#include "allocator/set_evaluator.h"
#include "allocator/set_walk.h"

namespace jabas {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEqual = 1e-9;
constexpr double kRounding = 1e-12;

}  // namespace

double SetEvaluator::most_for(double price_per_h) {
  double sum = 0, left = price_per_h * (1 + kRounding) - least_price_;
  cheapest_.clear();
  for (std::size_t t = 0; t < lo_.size(); ++t) {
    sum += amounts_[t] * lo_[t];
    if (hi_[t] > lo_[t] && amounts_[t] > 0) cheapest_.emplace_back(prices_[t] / amounts_[t], t);
  }
  if (cheapest_.size() > 1) std::sort(cheapest_.begin(), cheapest_.end());
  for (const auto& [quotient, t] : cheapest_) {
    const int more = hi_[t] - lo_[t];
    const double price = prices_[t] * more;
    if (price > left) return sum + std::max(left, 0.0) / quotient;
    left -= price;
    sum += amounts_[t] * more;
  }
  return sum;
}

const std::vector<PriceBand>& SetEvaluator::set_bands(const PriceBand& prices, std::size_t count) {
  double least = least_price_, most = other_price_, least_gpu = kInfinity;
  bool none_sure = true;
  for (std::size_t t = 0; t < lo_.size(); ++t) {
    most += prices_[t] * hi_[t];
    if (hi_[t] > 0) least_gpu = std::min(least_gpu, prices_[t]);
    none_sure = none_sure && lo_[t] == 0;
  }
  if (none_sure) least += least_gpu;
  // Prices are sums: rounding must not lose a set.
  least = std::max(least * (1 - kRounding), prices.from);
  most = std::min(most * (1 + kRounding), prices.to);
  bands_.clear();
  if (most < least) return bands_;
  if (least <= 0 || most <= least * (1 + kEqual)) count = 1;
  const double factor = count > 1 ? std::pow(most / least, 1 / double(count)) : 1;
  for (std::size_t k = 0; k < count; ++k) {
    const double from = k == 0 ? least : bands_.back().to;
    bands_.push_back({from, k + 1 == count ? most : from * factor});
  }
  band_rates_.assign(count * lines_.size(), -1);
  amounts_.resize(lo_.size());
  return bands_;
}

void SetEvaluator::set_goal(std::size_t index, bool by_samples) {
  const auto [from, to] = span(index);
  band_goal_ = {index, hints_[index], weights(goals_[index], by_samples), from, to, kInfinity};
}

void SetEvaluator::look_at_band(std::size_t i, std::size_t band) {
  const Line& line = lines_[i];
  double& rate = band_rates_[band * lines_.size() + i];
  if (rate < 0) {
    for (std::size_t t = 0; t < lo_.size(); ++t) {
      const SpeedTable::Cell& cell = table_.cell(t, i);
      amounts_[t] = cell.max_streams > 0 ? cell.workers_per_s : 0;
    }
    rate = most_for(bands_[band].to);
  }
  if (rate <= 0) return;
  const double b = double(table_.batch(i));
  const std::int64_t least_workers = std::max(least_gpus_, rules_.needs_two_workers ? 2 : 1);
  const auto& [goal, best, weight, from, to, least_yet] = band_goal_;
  const Bound own{line.least_s, 1 / (rate * b), line.first_s + line.reduce.last_s};
  if (least_value(own, weight, from, to) * (1 - kEqual) > least_yet) return;
  const Window all{std::max(least_workers, std::int64_t(std::ceil(from / b * (1 - kRounding)))),
                   std::int64_t(to / b * (1 + kRounding))};
  if (all.empty()) return;
  // Wide windows are cut to where the line leaves something to find.
  const Window open = to > 2 * from ? below(own, b, all, weight, least_yet) : all;
  if (open.empty()) return;
  const double least_weight = weight.of(b * double(open.last));
  const double start_s = (line.offset_s + double(open.first) / rate) * (1 - kEqual);
  walk(i, open.first, start_s, [&](std::int64_t, double time_s) {
    const double step_s = time_s + line.reduce.last_s;
    if (step_s * least_weight >= band_goal_.least) return false;
    std::fill(amounts_.begin(), amounts_.end(), 0.0);
    for (const Slot& slot : slots_) amounts_[slot.type] = double(slot.workers);
    const double workers = most_for(bands_[band].to) * (1 + kRounding);
    if (workers < double(open.first)) return true;
    const double value = step_s * band_goal_.weights.of(b * std::min(workers, double(all.last)));
    if (value < band_goal_.least) {
      band_goal_.least = value;
      band_goal_.best_batch = i;
    }
    return workers < double(open.last);
  });
}

// A band's sets may cost more than those of the bands before: what these can do they can, too.
double SetEvaluator::band_bound(std::size_t band) {
  const std::size_t hint = band_goal_.best_batch;
  effort_ += usable_.size() / 2;
  if (lines_[hint].usable) look_at_band(hint, band);
  for (const std::size_t i : usable_)
    if (i != hint) look_at_band(i, band);
  return band_goal_.least * (1 - kRounding);
}

}  // namespace jabas
