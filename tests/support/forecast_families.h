// Made-up histories of the global batch for judging forecasts: how B moves when training grows,
// shrinks, saturates, stops or only wobbles, over the epochs of a data set. Everything follows from
// the setting and the seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "allocator/forecast_methods.h"

namespace jabas::forecast_families {

struct Setting {
  std::string family;
  double from = 256, to = 2048;   // B at the start and after `length` adjustments
  double length = 100;            // adjustments
  double noise = 0;               // standard deviation of log B, apart from the movement itself
  double records_per_epoch = 20;  // in the first epoch
  int epochs = 10;
  double quantum = 0;        // B in multiples of it; 0: any B
  std::int64_t every = 100;  // steps between adjustments
};

// A run knows its least batch; a falling line ends there.
inline BatchBounds bounds_of(const Setting& setting) {
  return {std::max(1.0, std::min(setting.from, setting.to) / 2),
          std::numeric_limits<double>::infinity()};
}

struct Run {
  std::vector<BatchRecord> records;
  std::vector<std::int64_t> epoch_ends;  // last step of each finished epoch
  double epoch_samples = 0;
};

// Log B in the course of a run, without noise.
class Movement {
 public:
  Movement(const Setting& setting, std::mt19937_64* random) : s_(setting), random_(random) {
    level_ = std::log(s_.from);
  }
  double next() {
    const double at = k_++ / s_.length;
    const double from = s_.from, to = s_.to;
    if (s_.family == "constant") return std::log(from);
    if (s_.family == "linear")
      return std::log(std::max(from + (to - from) * at, bounds_of(s_).min));
    if (s_.family == "geometric") return std::log(from) + std::log(to / from) * at;
    if (s_.family == "saturating") return std::log(from + (to - from) * (1 - std::exp(-3 * at)));
    if (s_.family == "stops linear") return std::log(from + (to - from) * std::min(at, 1.0));
    if (s_.family == "stops geometric")
      return std::log(from) + std::log(to / from) * std::min(at, 1.0);
    if (s_.family == "zig-zag") {  // a triangle between from and to, `length` adjustments a turn
      const double turn = std::fabs(std::fmod(at + 1, 2.0) - 1);
      return std::log(from) + std::log(to / from) * (1 - turn);
    }
    if (s_.family == "walk") {  // ±10 % with equal chances, as the cosine rule does near its target
      const double step = uniform() < 0.5 ? std::log(1.1) : std::log(0.9);
      return level_ = std::clamp(level_ + step, std::log(from / 8), std::log(from * 16));
    }
    if (s_.family == "gaussian walk") return level_ += 0.05 * normal();
    if (s_.family == "drifting walk") {  // up more often than down
      const double step = uniform() < 0.65 ? std::log(1.1) : std::log(0.9);
      return level_ += step;
    }
    if (s_.family == "ramp and hover") {  // the cosine rule: +10 % up to the target, then around it
      const double target = std::log(to);
      const double step =
          uniform() < 1 / (1 + std::exp(-12 * (target - level_))) ? std::log(1.1) : std::log(0.9);
      return level_ += step;
    }
    throw std::logic_error(s_.family);
  }
  double normal() {
    const double u = 1 - uniform(), v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.14159265358979323846 * v);
  }

 private:
  double uniform() { return double((*random_)() >> 11) * 0x1p-53; }
  const Setting& s_;
  std::mt19937_64* random_;
  double level_ = 0;
  double k_ = 0;
};

inline Run run_of(const Setting& setting, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Movement movement(setting, &random);
  Run run;
  run.epoch_samples = setting.from * setting.every * setting.records_per_epoch;
  double batch = setting.from, left = run.epoch_samples;
  std::int64_t step = 0;
  while (int(run.epoch_ends.size()) < setting.epochs && run.records.size() < 2000) {
    for (std::int64_t i = 0; i < setting.every && int(run.epoch_ends.size()) < setting.epochs;
         ++i) {
      ++step;
      if ((left -= batch) > 0) continue;
      left = run.epoch_samples;
      run.epoch_ends.push_back(step);
    }
    batch = std::exp(movement.next() + setting.noise * movement.normal());
    if (setting.quantum > 0)
      batch = std::max(1.0, std::round(batch / setting.quantum)) * setting.quantum;
    batch = std::max(batch, 1.0);
    run.records.push_back({step, batch});
  }
  return run;
}

struct Score {
  double error_sum = 0;
  int points = 0;
  double mape() const { return points ? 100 * error_sum / points : 0; }
};

// Mean error of forecasting every epoch but the first from what was known at the end of the one
// before.
inline double mape(const Run& run, ForecastMethod method, const BatchBounds& bounds = {}) {
  Score score;
  for (std::size_t e = 0; e + 1 < run.epoch_ends.size(); ++e) {
    BatchHistory history;
    std::vector<std::int64_t> steps;
    std::vector<double> actual;
    for (const BatchRecord& record : run.records) {
      if (record.step <= run.epoch_ends[e])
        history.records.push_back(record);
      else if (record.step <= run.epoch_ends[e + 1]) {
        steps.push_back(record.step);
        actual.push_back(record.batch);
      }
    }
    if (history.records.empty() || steps.empty()) continue;
    history.last_epoch_after = e > 0 ? run.epoch_ends[e - 1] : 0;
    history.horizon_steps = run.epoch_samples / history.records.back().batch;
    const Forecast found = forecast(history, steps, bounds, method);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      score.error_sum += std::abs(found.batches[i] / actual[i] - 1);
      ++score.points;
    }
  }
  return score.mape();
}

}  // namespace jabas::forecast_families
