// A training as the simulator knows it: what one step at a global batch brings at each point of
// the run, and what a policy may see of it (shared design "model" 9).
//
// Progress is counted in steps at the smallest batch B_0. Rows are stretches of progress: within
// one everything is constant. Between measured batches the logarithms of gain, |G|² and variance
// are interpolated over the logarithm of the batch (a gain proportional to the batch stays so);
// outside of them the nearest measured batch counts.
// Units: samples, steps at B_0.   Threads: const, safe to share.
// Errors: InputError for rows that make no sense.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocator/progress.h"

namespace jabas::sim {

// The state of a training at the end of one row, at one fixed batch.
struct ProgressRow {
  double progress = 0;      // so far
  double iteration = 0;     // steps so far
  double metric = 0;        // of the model's quality; only reported
  double sqr = 0, var = 0;  // |G|² and its variance at B_0
};
struct ProgressCurve {
  std::int64_t batch = 0;
  std::vector<ProgressRow> rows;
};

// measured: Δprogress/Δiteration of the row; formula: gain() with the row's |G|² and variance.
enum class GainRule { kMeasured, kFormula };

class Workload {
 public:
  // Curves by ascending batch; the first one's batch is B_0 and its last progress the whole work.
  // Progress and iterations must grow along each curve; throws InputError naming `name`.
  Workload(std::string name, std::vector<ProgressCurve> curves, std::int64_t epoch_samples,
           GainRule rule);
  // Gain by the formula with the same noise all the time: nothing was measured.
  static Workload assumed(const std::string& name, double noise_ratio, std::int64_t batch_min,
                          std::int64_t batch_max, std::int64_t epoch_samples, int epochs);

  const std::string& name() const { return name_; }
  std::int64_t batch_min() const { return curves_.front().batch; }
  std::int64_t batch_max() const { return batch_max_; }
  std::int64_t epoch_samples() const { return epoch_samples_; }
  double work() const { return curves_.front().rows.back().progress; }

  // Where the row that begins at or goes on after `progress` ends; the last one has no end.
  double row_end(double progress) const;
  double gain(double progress, double batch) const;
  GradientNoise noise(double progress, double batch) const;
  // Of the end of the run, interpolated over the logarithm of the batch; NaN if it is not known.
  double final_metric(double batch) const;

 private:
  struct Point {  // one curve in one row
    double log_gain = 0, log_sqr = 0, log_var = 0;
  };
  struct Place {  // between which curves a batch lies
    std::size_t below = 0, above = 0;
    double share = 0;  // of `above`
  };
  Place place(double batch) const;
  const std::vector<Point>& row(double progress) const;

  std::string name_;
  std::vector<ProgressCurve> curves_;
  std::vector<double> log_batches_;
  std::int64_t epoch_samples_ = 0, batch_max_ = 0;
  GainRule rule_;
  std::vector<double> row_ends_;          // ascending
  std::vector<std::vector<Point>> rows_;  // [row][curve]; one more than row_ends_
};

}  // namespace jabas::sim
