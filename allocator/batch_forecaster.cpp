#include "allocator/batch_forecaster.h"

#include <algorithm>
#include <cmath>

#include "allocator/batch_choice.h"
#include "allocator/noise_trend.h"
#include "allocator/progress.h"

namespace jabas {
namespace {

constexpr std::int64_t kMaxSegments = 50;
constexpr int kMaxStretches = 8;         // of the noise, in an epoch and after it
constexpr double kLongestStretch = 1.2;  // factor of progress, if they suffice
constexpr double kLeastValue = 1e-30;    // no batch and no ratio of noise; its inverse is finite
constexpr std::int64_t kLargestStep = std::int64_t{1} << 53;

// Ascending; what was done again after a resume counts as it was the last time.
std::vector<BatchRecord> records_of(const std::vector<std::pair<std::int64_t, double>>& history) {
  std::vector<BatchRecord> records;
  for (const auto& [step, value] : history) {
    if (!(value >= kLeastValue) || !std::isfinite(value) || step < 0 || step > kLargestStep)
      continue;
    while (!records.empty() && records.back().step >= step) records.pop_back();
    records.push_back({step, value});
  }
  return records;
}

// The batch wanted now is the last of them.
std::vector<BatchRecord> batch_records(const DecisionState& state, double present) {
  std::vector<BatchRecord> records = records_of(state.batch_history);
  if (records.empty()) return {{0, present}};
  if (records.back().batch != state.wanted_batch)
    records.push_back({records.back().step + state.adapt_every, present});
  return records;
}

BatchBounds bounds_of(const BatchRules& rules) {
  BatchBounds bounds;
  bounds.min = std::max(1.0, double(rules.batch_min));
  if (rules.batch_max > 0) bounds.max = std::max(bounds.min, double(rules.batch_max));
  return bounds;
}

// Pieces of `steps` steps at each batch until the samples are consumed; the last batch takes what
// is left.
std::vector<ForecastSegment> segments_of(const std::vector<double>& batches, double steps,
                                         std::int64_t samples) {
  std::vector<ForecastSegment> segments;
  std::int64_t left = samples;
  for (std::size_t i = 0; i < batches.size() && (left > 0 || segments.empty()); ++i) {
    const double batch = batches[i], consumed = std::ceil(steps * batch);
    const bool rest = i + 1 == batches.size() || consumed >= double(left);
    const std::int64_t piece = rest ? left : std::int64_t(consumed);
    left -= piece;
    if (!segments.empty() && segments.back().wanted_batch == batch)
      segments.back().samples += piece;
    else
      segments.push_back({batch, piece, 0});
  }
  return segments;
}

// The adjustments of the next epoch. Long epochs are cut into fewer pieces than they have of them.
struct Pieces {
  double steps_of_one = 0;
  double horizon_steps = 0;
  std::vector<std::int64_t> after(std::int64_t last_step) const {
    std::vector<std::int64_t> steps;
    for (std::int64_t i = 1; i <= kMaxSegments; ++i)
      steps.push_back(last_step + std::int64_t(double(i) * steps_of_one));
    return steps;
  }
};

Pieces pieces_of(const DecisionState& state, double present) {
  const double horizon_steps = double(state.epoch_samples) / present;
  const double adjustments = std::ceil(horizon_steps / double(state.adapt_every));
  const double stride = std::max(1.0, std::ceil(adjustments / double(kMaxSegments)));
  return {stride * double(state.adapt_every), horizon_steps};
}

double base_batch(const DecisionState& state) {
  return std::max(double(state.batch.batch_min), 1.0);
}

// Of one epoch at the present batch.
double epoch_progress(const DecisionState& state, double present, double ratio) {
  return double(state.epoch_samples) / present * gain(present, {1, ratio, base_batch(state)});
}

// By ascending progress: what each stretch between two records brought, at the batch decided on
// before it.
std::vector<NoiseRecord> noise_records(const DecisionState& state, double present) {
  const std::vector<BatchRecord> batches = records_of(state.batch_history);
  std::vector<NoiseRecord> records;
  std::int64_t step = 0;
  double progress = 0;
  std::size_t next = 0;
  for (const BatchRecord& record : records_of(state.noise_history)) {
    while (next < batches.size() && batches[next].step < record.step) ++next;
    const double batch = batches.empty() ? present : batches[next > 0 ? next - 1 : 0].batch;
    progress += double(record.step - step) * gain(batch, {1, record.batch, base_batch(state)});
    step = record.step;
    if (progress > 0) records.push_back({progress, record.batch});
  }
  return records;
}

// Ends of at most 8 stretches from `from` to `to` more progress, by equal factors of the progress.
std::vector<double> stretches(const NoiseTrend& trend, double from, double to) {
  const double begin = trend.progress() + from, factor = (trend.progress() + to) / begin;
  if (!trend.moves() || !(factor > 1)) return {to};
  const int count =
      std::clamp(int(std::ceil(std::log(factor) / std::log(kLongestStretch))), 1, kMaxStretches);
  std::vector<double> ends;
  for (int i = 1; i < count; ++i)
    ends.push_back(begin * std::pow(factor, double(i) / count) - trend.progress());
  ends.push_back(to);
  return ends;
}

BatchForecast forecast_noise(const DecisionState& state, double present) {
  const std::vector<NoiseRecord> records = noise_records(state, present);
  const double now = !records.empty()                           ? records.back().ratio
                     : state.grad_sqr > 0 && state.grad_var > 0 ? state.grad_var / state.grad_sqr
                                                                : 0;
  BatchForecast result{{}, present, now, "last value"};
  if (now == 0) {
    result.next_epoch = {{present, state.epoch_samples, 0}};
    return result;
  }
  const double epoch = epoch_progress(state, present, now);
  const double rest = state.rest_progress > 0
                          ? state.rest_progress
                          : epoch * double(std::max(state.epochs - state.next_epoch + 1, 1));
  const NoiseTrend trend =
      records.empty() ? NoiseTrend::at_start(now, epoch) : NoiseTrend(records, rest, epoch);
  result.method = trend.method() + " of the noise";
  double begin = 0;
  std::int64_t left = state.epoch_samples;
  const std::vector<double> ends = stretches(trend, 0, epoch);
  for (std::size_t i = 0; i < ends.size() && left > 0; ++i) {
    const double samples = double(state.epoch_samples) * (ends[i] - begin) / epoch;
    const std::int64_t piece =
        i + 1 == ends.size() ? left
                             : std::clamp(std::int64_t(std::ceil(samples)), std::int64_t{1}, left);
    result.next_epoch.push_back({present, piece, trend.ratio((begin + ends[i]) / 2)});
    left -= piece;
    begin = ends[i];
  }
  result.later_noise_ratio = trend.ratio(epoch);
  if (rest <= epoch || !trend.moves()) return result;
  begin = epoch;
  for (const double end : stretches(trend, epoch, rest)) {
    result.later.push_back({end, trend.ratio((begin + end) / 2)});
    begin = end;
  }
  return result;
}

}  // namespace

BatchForecast forecast_batch(const DecisionState& state) {
  const double present = std::max(clipped(state.wanted_batch, state.batch), 1.0);
  if (!state.adaptive) return {{{present, state.epoch_samples, 0}}, present, 0, "fixed"};
  if (state.batch_policy == BatchPolicy::kGoodput) return forecast_noise(state, present);

  const std::vector<BatchRecord> records = batch_records(state, present);
  const Pieces pieces = pieces_of(state, present);
  const Forecast found =
      forecast({records, 0, pieces.horizon_steps}, pieces.after(records.back().step),
               bounds_of(state.batch), ForecastMethod::kDefault);
  BatchForecast result;
  result.next_epoch = segments_of(found.batches, pieces.steps_of_one, state.epoch_samples);
  result.later_batch = result.next_epoch.back().wanted_batch;
  result.method = found.method;
  return result;
}

std::optional<double> forecast_error(const BatchForecast& forecast,
                                     const std::vector<BatchRecord>& came) {
  if (came.empty()) return std::nullopt;
  double sum = 0;
  for (const BatchRecord& record : came) {
    double begin = 0, batch = forecast.later_batch;
    for (const ForecastSegment& segment : forecast.next_epoch) {
      batch = segment.wanted_batch;
      begin += double(segment.samples) / batch;
      if (double(record.step) < begin) break;
    }
    sum += std::abs(batch / record.batch - 1);
  }
  return sum / double(came.size());
}

}  // namespace jabas
