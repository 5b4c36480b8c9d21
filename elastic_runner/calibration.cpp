#include "elastic_runner/calibration.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "elastic_runner/process_memory.h"

namespace jabas {
namespace {

constexpr double kWorthAStream = 1.05;  // least gain of throughput by one more
constexpr double kMemoryMargin = 2;     // a point may need so much more than the largest before it

double steady_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double pass_s(const ComputePoint& point) {
  return point.data_s + point.forward_s + point.backward_s;
}

// Expected time of a pass, in proportion to b and V: of the nearest point before it.
double expected_s(const std::vector<ComputePoint>& points, std::int64_t local_batch, int streams) {
  const auto distance = [&](const ComputePoint& point) {
    return std::abs(
        std::log(double(point.local_batch * point.streams) / double(local_batch * streams)));
  };
  const ComputePoint& nearest = *std::min_element(
      points.begin(), points.end(),
      [&](const ComputePoint& a, const ComputePoint& b) { return distance(a) < distance(b); });
  return pass_s(nearest) * double(local_batch * streams) /
         double(nearest.local_batch * nearest.streams);
}

}  // namespace

CalibrationGrid calibration_grid(const TrainingSpec& spec, bool has_batch_norm) {
  CalibrationGrid grid;
  grid.batches = {spec.local_batch};
  if (!spec.adaptive || spec.local_batch_fixed) return grid;
  // An adaptive run has at least two virtual workers.
  const std::int64_t least = has_batch_norm ? 2 : 1,
                     most = std::min({spec.batch_max / 2, spec.train_samples, kMaxLocalBatch});
  for (const auto& [times, parts] : {std::pair{2, 1}, {1, 2}, {4, 1}, {1, 4}, {8, 1}}) {
    const std::int64_t batch = spec.local_batch * times / parts;
    if (batch >= least && batch <= most) grid.batches.push_back(batch);
  }
  return grid;
}

std::vector<ComputePoint> measure_points(const CalibrationGrid& grid,
                                         const CalibrationTools& tools) {
  std::vector<ComputePoint> points;
  const double begin_s = tools.now_s();
  for (const std::int64_t batch : grid.batches) {
    for (int streams = 1; streams <= grid.max_streams; ++streams) {
      if (!points.empty()) {
        const double cost_s = expected_s(points, batch, streams) * (grid.repeats + 1);
        if (tools.now_s() - begin_s + cost_s > grid.budget_s || !tools.fits(batch, streams)) break;
      }
      StepTimes times;
      try {
        times = tools.measure(batch, streams);
      } catch (const std::exception& error) {
        if (points.empty()) throw;
        std::fprintf(stderr,
                     "jabas-run: local batch %lld with %d streams could not be measured and is "
                     "left out: %s\n",
                     static_cast<long long>(batch), streams, error.what());
        break;
      }
      ComputePoint point{
          batch, streams, times.data_s, times.forward_s, times.backward_s, times.update_s, 0, 0};
      const ComputePoint* fewer = streams > 1 ? &points.back() : nullptr;
      if (fewer != nullptr) point.update_s = fewer->update_s;
      const bool worth = fewer == nullptr ||
                         streams / pass_s(point) >= kWorthAStream * fewer->streams / pass_s(*fewer);
      points.push_back(point);
      tools.show(point);
      if (!worth && !grid.all_streams) break;
    }
  }
  std::sort(points.begin(), points.end(), [](const ComputePoint& a, const ComputePoint& b) {
    return a.local_batch != b.local_batch ? a.local_batch < b.local_batch : a.streams < b.streams;
  });
  return points;
}

CalibrationTools real_device(IidpEngine& engine, int repeats) {
  CalibrationTools tools;
  tools.measure = [&engine, repeats](std::int64_t local_batch, int streams) {
    return engine.measure(local_batch, streams, repeats);
  };
  tools.fits = [before = resident_bytes()](std::int64_t, int) {
    return kMemoryMargin * (peak_resident_bytes() - before) <= available_bytes();
  };
  tools.now_s = steady_now_s;
  return tools;
}

Calibration calibrate(const TrainingSpec& spec, IidpEngine& engine, const Emulation* emulation,
                      const std::string& gpu_type) {
  Calibration result;
  result.gpu_type = gpu_type;
  const double begin_s = steady_now_s();
  const CalibrationGrid grid = calibration_grid(spec, engine.has_batch_norm());
  CalibrationTools tools = real_device(engine, grid.repeats);
  if (emulation != nullptr) {
    tools.measure = [emulation](std::int64_t local_batch, int streams) {
      return emulation->measured(local_batch, {streams, 0});
    };
    tools.fits = [emulation](std::int64_t local_batch, int streams) {
      return emulation->fits(local_batch, streams);
    };
    tools.now_s = [] { return 0.0; };
  }
  result.points = measure_points(grid, tools);
  for (const double bytes : engine.bucket_bytes()) result.buckets.push_back({bytes, 0});
  result.duration_s = steady_now_s() - begin_s;
  return result;
}

}  // namespace jabas
