// Everything the daemon knows about the one run that is going on: from the console's hello to its
// end. Plain data. Units: UNIX seconds and durations in seconds, samples, US dollars. Epochs count
// from 1.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allocator/control_messages.h"
#include "allocator/gpu_set.h"
#include "spank_plugin/jabasd/cost_meter.h"

namespace jabas {

constexpr double kAssumedPause_s = 2, kAssumedStartup_s = 10;

struct Run {
  int number = 0;
  std::string console;  // routing id
  Hello hello;
  TrainingSpec spec;             // in force
  std::vector<GpuLimit> limits;  // effective
  GpuCounts base, wanted;        // wanted includes base
  double started_s = 0, min_met_s = 0;
  bool trained_once = false;

  int epoch = 1;  // that trains
  double epoch_started_s = 0, epoch_start_usd = 0;
  int decided_for = 0;               // latest epoch whose set was decided
  std::optional<Progress> progress;  // of `epoch`
  double progress_at_s = 0;

  std::vector<std::pair<std::int64_t, double>> batch_history;  // (step, wanted B)
  std::vector<std::pair<std::int64_t, double>> noise_history;  // (step, grad_var / grad_sqr)
  double wanted_batch = 0, grad_sqr = 0, grad_var = 0;
  std::int64_t local_batch = 0;

  double predicted_s = 0, forecast_batch = 0;            // of `epoch`, from the decision before it
  double next_predicted_s = 0, next_forecast_batch = 0;  // of the epoch after it
  double last_epoch_s = 0, evaluation_s = 0, pause_s = kAssumedPause_s;
  int last_change_epoch = 0;  // first epoch of the present set; 0 = none changed yet
  std::vector<int> stays;     // epochs that each earlier set stayed

  CostMeter cost;
  int epochs_done = 0;
  double test_accuracy = -1;
  std::int64_t emulated_steps = 0, emulation_overruns = 0;

  std::string end_state, end_reason;  // set when it ends
  int exit_code = 0;
};

}  // namespace jabas
