#include "allocator/simulator/workload.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "allocator/error.h"

namespace jabas::sim {
namespace {

double mix(double a, double b, double share_of_b) { return a + (b - a) * share_of_b; }

void check(const std::string& name, const ProgressCurve& curve) {
  const std::string where = name + ": batch " + std::to_string(curve.batch) + ": ";
  if (curve.rows.empty()) throw InputError(where + "has no rows");
  ProgressRow before;
  std::size_t number = 0;
  for (const ProgressRow& row : curve.rows) {
    const std::string at = where + "row " + std::to_string(++number) + ": ";
    if (!(row.progress > before.progress) || !std::isfinite(row.progress))
      throw InputError(at + "progress " + std::to_string(row.progress) +
                       " is not above that of the row before");
    if (!(row.iteration > before.iteration) || !std::isfinite(row.iteration))
      throw InputError(at + "iteration " + std::to_string(row.iteration) +
                       " is not above that of the row before");
    if (!(row.sqr > 0 && row.var > 0 && std::isfinite(row.sqr) && std::isfinite(row.var)))
      throw InputError(at + "grad_sqr and grad_var must be above 0");
    before = row;
  }
}

}  // namespace

Workload::Workload(std::string name, std::vector<ProgressCurve> curves, std::int64_t epoch_samples,
                   GainRule rule)
    : name_(std::move(name)),
      curves_(std::move(curves)),
      epoch_samples_(epoch_samples),
      rule_(rule) {
  JABAS_ASSERT(!curves_.empty() && epoch_samples_ > 0, "a workload has curves and samples");
  batch_max_ = curves_.back().batch;
  std::int64_t before_batch = 0;
  for (const ProgressCurve& curve : curves_) {
    check(name_, curve);
    if (curve.batch <= before_batch)
      throw InputError(name_ + ": batch " + std::to_string(curve.batch) + " is there twice");
    before_batch = curve.batch;
    log_batches_.push_back(std::log(double(curve.batch)));
    // The last row of each curve goes on for ever.
    for (std::size_t i = 0; i + 1 < curve.rows.size(); ++i)
      row_ends_.push_back(curve.rows[i].progress);
  }
  std::sort(row_ends_.begin(), row_ends_.end());
  row_ends_.erase(std::unique(row_ends_.begin(), row_ends_.end()), row_ends_.end());

  std::vector<std::size_t> index(curves_.size(), 0);
  for (std::size_t r = 0; r <= row_ends_.size(); ++r) {
    std::vector<Point> points;
    for (std::size_t c = 0; c < curves_.size(); ++c) {
      const std::vector<ProgressRow>& rows = curves_[c].rows;
      while (r > 0 && index[c] + 1 < rows.size() && rows[index[c]].progress <= row_ends_[r - 1])
        ++index[c];
      const ProgressRow& row = rows[index[c]];
      const ProgressRow before = index[c] > 0 ? rows[index[c] - 1] : ProgressRow{};
      points.push_back(
          {std::log((row.progress - before.progress) / (row.iteration - before.iteration)),
           std::log(row.sqr), std::log(row.var)});
    }
    rows_.push_back(std::move(points));
  }
}

Workload Workload::assumed(const std::string& name, double noise_ratio, std::int64_t batch_min,
                           std::int64_t batch_max, std::int64_t epoch_samples, int epochs) {
  const double steps = double(epochs) * double(epoch_samples) / double(batch_min);
  Workload workload(name, {{batch_min, {{steps, steps, std::nan(""), 1, noise_ratio}}}},
                    epoch_samples, GainRule::kFormula);
  workload.batch_max_ = batch_max;
  return workload;
}

double Workload::row_end(double progress) const {
  const auto end = std::upper_bound(row_ends_.begin(), row_ends_.end(), progress);
  return end == row_ends_.end() ? std::numeric_limits<double>::infinity() : *end;
}

const std::vector<Workload::Point>& Workload::row(double progress) const {
  const auto end = std::upper_bound(row_ends_.begin(), row_ends_.end(), progress);
  return rows_[std::size_t(end - row_ends_.begin())];
}

Workload::Place Workload::place(double batch) const {
  const double log_batch = std::log(batch);
  const auto above = std::lower_bound(log_batches_.begin(), log_batches_.end(), log_batch);
  if (above == log_batches_.begin()) return {0, 0, 0};
  const std::size_t index = std::size_t(above - log_batches_.begin());
  if (above == log_batches_.end()) return {index - 1, index - 1, 0};
  return {index - 1, index, (log_batch - *(above - 1)) / (*above - *(above - 1))};
}

double Workload::gain(double progress, double batch) const {
  if (rule_ == GainRule::kFormula) return jabas::gain(batch, noise(progress, batch));
  const Place at = place(batch);
  const std::vector<Point>& points = row(progress);
  return std::exp(mix(points[at.below].log_gain, points[at.above].log_gain, at.share));
}

GradientNoise Workload::noise(double progress, double batch) const {
  const Place at = place(batch);
  const std::vector<Point>& points = row(progress);
  return {std::exp(mix(points[at.below].log_sqr, points[at.above].log_sqr, at.share)),
          std::exp(mix(points[at.below].log_var, points[at.above].log_var, at.share)),
          double(batch_min())};
}

double Workload::final_metric(double batch) const {
  const Place at = place(batch);
  return mix(curves_[at.below].rows.back().metric, curves_[at.above].rows.back().metric, at.share);
}

}  // namespace jabas::sim
