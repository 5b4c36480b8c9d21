// Measures the GPU of a worker before it trains: seconds of one concurrent pass for several local
// batches b and stream counts V, so that a type without a profile need not be guessed.
//
// The training does not notice: IidpEngine::measure leaves it as it is. Emulated devices answer at
// once with the times of the profile they emulate.
// Units: samples, seconds.   Errors: those of the first point are the caller's; what fails at a
// later one is said on standard error and left out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "allocator/control_messages.h"
#include "elastic_runner/emulation.h"
#include "elastic_runner/iidp_engine.h"

namespace jabas {

struct CalibrationGrid {
  std::vector<std::int64_t> batches;  // most wanted first; the first is measured whatever it costs
  int max_streams = 4;
  int repeats = 3;           // of each point, beside one that warms up
  double budget_s = 8;       // points that would exceed it are left out
  bool all_streams = false;  // also where one more stream brought nothing
};

// The run's present local batch, and twice, half, … of it as far as its global batch allows. A
// batch that cannot change is the only one.
CalibrationGrid calibration_grid(const TrainingSpec& spec, bool has_batch_norm);

struct CalibrationTools {
  std::function<StepTimes(std::int64_t local_batch, int streams)> measure;
  std::function<bool(std::int64_t local_batch, int streams)> fits;  // into memory
  std::function<double()> now_s;
  std::function<void(const ComputePoint&)> show = [](const ComputePoint&) {};
};
// By local batch and streams. Each local batch has V = 1, then more streams while one more brings
// at least 5 % of throughput, memory holds them and the budget lasts.
std::vector<ComputePoint> measure_points(const CalibrationGrid& grid,
                                         const CalibrationTools& tools);

// Of a real device: memory from the system, measuring by the engine.
CalibrationTools real_device(IidpEngine& engine, int repeats);

// The worker's answer to a `welcome` that asks for it. `emulation`: nullptr on real devices.
Calibration calibrate(const TrainingSpec& spec, IidpEngine& engine, const Emulation* emulation,
                      const std::string& gpu_type);

}  // namespace jabas
