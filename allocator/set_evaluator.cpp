#include "allocator/set_evaluator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "allocator/batch_choice.h"

namespace jabas {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// As in batch_choice.cpp and goodput_choice.cpp: rates that count as equal.
constexpr double kEqual = 1e-9;
constexpr double kRounding = 1e-12;
// Rounding N up or down never moves b·N further than this from the wanted batch (one worker or
// two).
const double kRoundingFactor = std::sqrt(2.0);
constexpr std::size_t kBins = 16;

int nodes_of(const Counts& counts, const SpeedTable& table) {
  int nodes = 0;
  for (std::size_t t = 0; t < counts.size(); ++t)
    nodes += (counts[t] + table.gpus_per_node(t) - 1) / table.gpus_per_node(t);
  return nodes;
}

}  // namespace

SetEvaluator::SetEvaluator(const std::vector<std::string>& types, const SpeedTable& table,
                           const ThroughputModel& model, const BatchRules& rules,
                           std::vector<BatchGoal> goals)
    : types_(types),
      table_(table),
      model_(model),
      rules_(rules),
      goals_(std::move(goals)),
      hints_(goals_.size(), 0),
      lines_(table.batches()),
      prices_(types.size(), 0) {}

void SetEvaluator::set_prices(std::vector<double> prices, double other) {
  prices_ = std::move(prices);
  other_price_ = other;
}

// Times are monotone in the GPUs for each network, either way, so that the least is at an end.
AllReduceTimes SetEvaluator::least_reduce(std::size_t batch) const {
  AllReduceTimes sure, any{kInfinity, kInfinity};
  bool some_sure = false;
  for (std::size_t t = 0; t < hi_.size(); ++t) {
    if (hi_[t] == 0) continue;
    AllReduceTimes least{kInfinity, kInfinity};
    for (const int gpus : {least_gpus_, most_gpus_})
      for (int nodes = std::min(least_nodes_, 3); nodes <= std::min(most_nodes_, 3); ++nodes) {
        const AllReduceTimes times = table_.all_reduce(t, gpus, nodes, batch);
        least = {std::min(least.hidden_s, times.hidden_s), std::min(least.last_s, times.last_s)};
      }
    if (lo_[t] > 0) {
      sure = slower(sure, least);
      some_sure = true;
    } else {
      any = {std::min(any.hidden_s, least.hidden_s), std::min(any.last_s, least.last_s)};
    }
  }
  return some_sure ? sure : any;
}

bool SetEvaluator::use_box(const Counts& lo, const Counts& hi) {
  lo_ = lo;
  hi_ = hi;
  least_gpus_ = most_gpus_ = 0;
  for (const int count : lo_) least_gpus_ += count;
  for (const int count : hi_) most_gpus_ += count;
  least_gpus_ = std::max(least_gpus_, 1);
  least_nodes_ = std::max(nodes_of(lo_, table_), 1);
  most_nodes_ = std::max(nodes_of(hi_, table_), 1);
  solver_.reset();
  least_price_ = other_price_;
  for (std::size_t t = 0; t < lo_.size(); ++t) least_price_ += prices_[t] * lo_[t];
  usable_.clear();
  if (most_gpus_ == 0) return false;
  effort_ += 2 * lines_.size();
  const AllReduceTimes reduce = least_reduce(0);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    lines_[i].reduce = table_.reduce_by_batch() ? least_reduce(i) : reduce;
    set_line(i);
    if (lines_[i].usable) usable_.push_back(i);
  }
  set_bounds();
  return !usable_.empty();
}

void SetEvaluator::set_line(std::size_t batch) {
  Line& line = lines_[batch];
  const bool box = lo_ != hi_;
  line.usable = true;
  line.rate = line.first_s = 0;
  double offset = 0, least_offset_s = kInfinity, any_first_s = kInfinity;
  for (std::size_t t = 0; t < hi_.size(); ++t) {
    if (hi_[t] == 0) continue;
    const SpeedTable::Cell& cell = table_.cell(t, batch);
    if (cell.max_streams < 1) {
      if (lo_[t] > 0) line.usable = false;
      continue;
    }
    const double rate = cell.workers_per_s * hi_[t];
    const double offset_s = line.reduce.hidden_s <= cell.least_backward_s
                                ? cell.offset_s
                                : SpeedTable::offset_s(cell, line.reduce.hidden_s);
    line.rate += rate;
    offset += rate * offset_s;
    least_offset_s = std::min(least_offset_s, offset_s);
    const double first_s = own_time(cell.streams[0], 1, line.reduce.hidden_s);
    if (lo_[t] > 0)
      line.first_s = std::max(line.first_s, first_s);
    else
      any_first_s = std::min(any_first_s, first_s);
  }
  if (line.first_s == 0) line.first_s = any_first_s;  // none is sure, but one there must be
  line.usable = line.usable && line.rate > 0;
  if (!line.usable) return;
  // In a box a type may be missing, and with it its share in the mean.
  line.offset_s = box ? least_offset_s : offset / line.rate;
  line.least_s = line.reduce.last_s + line.offset_s;
  line.per_sample_s = 1 / (line.rate * double(table_.batch(batch)));

  // Least Σ price·count / Σ rate·count in the box: a quotient of sums is least with all of the
  // types that lower it and none of the others.
  double price = least_price_, rate = 0;
  for (std::size_t t = 0; t < lo_.size(); ++t) rate += table_.cell(t, batch).workers_per_s * lo_[t];
  if (box) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t t = 0; t < lo_.size(); ++t)
      if (hi_[t] > lo_[t] && table_.cell(t, batch).max_streams > 0)
        order.emplace_back(prices_[t] / table_.cell(t, batch).workers_per_s, t);
    std::sort(order.begin(), order.end());
    for (const auto& [quotient, t] : order) {
      if (rate > 0 && quotient * rate >= price) break;
      const int more = hi_[t] - lo_[t];
      price += prices_[t] * more;
      rate += table_.cell(t, batch).workers_per_s * more;
    }
  }
  line.price_per_sample = price / (rate * double(table_.batch(batch)));
}

// A few straight lines below those of all local batches: of the batches with similar least_s the
// least of each.
void SetEvaluator::set_bounds() {
  time_bounds_.clear();
  price_bounds_.clear();
  if (usable_.empty()) return;
  double least_s = kInfinity, most_s = 0;
  for (const std::size_t i : usable_) {
    least_s = std::min(least_s, lines_[i].least_s);
    most_s = std::max(most_s, lines_[i].least_s);
  }
  const double scale = most_s > least_s ? double(kBins) / (most_s - least_s) : 0;
  std::array<Bound, kBins> time, price;
  time.fill({kInfinity, kInfinity, kInfinity});
  price.fill({kInfinity, kInfinity, 0});
  for (const std::size_t i : usable_) {
    const Line& line = lines_[i];
    const std::size_t bin = std::min(kBins - 1, std::size_t((line.least_s - least_s) * scale));
    time[bin] = {std::min(time[bin].least_s, line.least_s),
                 std::min(time[bin].per_sample_s, line.per_sample_s),
                 std::min(time[bin].first_s, line.first_s + line.reduce.last_s)};
    price[bin] = {std::min(price[bin].least_s, line.least_s * least_price_),
                  std::min(price[bin].per_sample_s, line.price_per_sample), 0};
  }
  const auto keep = [](const std::array<Bound, kBins>& bins, std::vector<Bound>* bounds) {
    for (const Bound& one : bins) {
      const bool above = !bounds->empty() && one.per_sample_s >= bounds->back().per_sample_s &&
                         one.first_s >= bounds->back().first_s;
      if (one.least_s < kInfinity && !above) bounds->push_back(one);
    }
  };
  keep(time, &time_bounds_);
  keep(price, &price_bounds_);
}

SetEvaluator::Weights SetEvaluator::weights(const BatchGoal& goal, bool by_samples) const {
  if (by_samples) return {1, 0};
  const GradientNoise& noise = goal.noise;
  if (!noise.known()) return {noise.base_batch, 0};
  const double sum = noise.var + noise.sqr;
  return {noise.var * noise.base_batch / sum, noise.sqr / sum};
}

std::pair<double, double> SetEvaluator::span(std::size_t index) const {
  const BatchGoal& goal = goals_[index];
  const std::int64_t least = std::max(least_gpus_, rules_.needs_two_workers ? 2 : 1);
  const std::int64_t most = std::max(most_gpus_, rules_.needs_two_workers ? 2 : 1);
  // Does every set of the box find a batch inside [from, to]? Then it uses one of these.
  bool sure = false;
  std::int64_t largest_first = 0;  // the smallest local batch of the set that has the largest
  for (const std::size_t i : usable_) {
    bool all = true;
    for (std::size_t t = 0; t < hi_.size(); ++t)
      all = all && (hi_[t] == 0 || table_.cell(t, i).max_streams > 0);
    if (!all) continue;
    if (largest_first == 0) largest_first = table_.batch(i);
    const Window own = window(goal, i);
    if (std::max(own.first, most) <= own.last) {
      sure = true;
      break;
    }
  }
  if (largest_first == 0) largest_first = table_.batch(usable_.back());
  double from = goal.from, to = goal.to;
  if (!sure) {
    from = std::min(from, goal.wanted / kRoundingFactor);
    to = std::max({to, goal.wanted * kRoundingFactor, double(largest_first * most)});
  }
  return {std::max(from, double(table_.batch(usable_.front()) * least)), to};
}

// max(first_s, least_s + per_sample_s·B)·(share/B + rest): falls while first_s counts, then convex.
double SetEvaluator::least_value(const Bound& bound, const Weights& weights, double from,
                                 double to) {
  const double begins = (bound.first_s - bound.least_s) / bound.per_sample_s;
  if (begins >= to) return bound.first_s * weights.of(to);
  from = std::max(from, begins);
  const double falls = bound.least_s * weights.share, grows = bound.per_sample_s * weights.rest;
  const auto value = [&](double batch) {
    return (bound.least_s + bound.per_sample_s * batch) * weights.of(batch);
  };
  if (grows * from * from >= falls) return value(from);
  if (grows * to * to <= falls) return value(to);
  return std::pow(
      std::sqrt(bound.least_s * weights.rest) + std::sqrt(bound.per_sample_s * weights.share), 2);
}

double SetEvaluator::least_of(const std::vector<Bound>& bounds, std::size_t goal,
                              const Weights& weights) const {
  const auto [from, to] = span(goal);
  effort_ += 1 + bounds.size();
  double least = kInfinity;
  for (const Bound& one : bounds) least = std::min(least, least_value(one, weights, from, to));
  return least * (1 - kRounding);
}

double SetEvaluator::line_bound(std::size_t goal, bool by_samples) const {
  return least_of(time_bounds_, goal, weights(goals_[goal], by_samples));
}

double SetEvaluator::price_bound(std::size_t goal) const {
  return least_of(price_bounds_, goal, weights(goals_[goal], false));
}

}  // namespace jabas
