// Predicts, for one set of GPUs, how long the rest of the run takes and what it costs (shared
// design "model" 7):
//   R = Σ progress·τ + evaluation,  τ = T(G, b·N) / gain(b·N),  C = price·R
// and what changing to the set adds. Progress is bought, not epochs: a set that can only run a
// larger batch than wanted pays for the progress it loses. Units: seconds, the price's currency.
// Threads: const, safe to share.   Ownership: the state must outlive it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allocator/batch_forecaster.h"
#include "allocator/progress.h"
#include "allocator/scaling_policy.h"
#include "allocator/throughput_model.h"

namespace jabas {

// A piece of what is left of the run.
struct Work {
  double wanted_batch = 0;
  GradientNoise noise;
  double progress = 0;  // in steps at batch_min
  double samples = 0;   // of the next epoch; 0 = of a later one
};

class Predictor {
 public:
  explicit Predictor(const DecisionState& state);

  // Without the cost of changing; nothing with *cause when the set cannot run the forecast (never a
  // partial sum).
  std::optional<CandidateResult> predict(const GpuCounts& gpus, std::string* cause) const;

  // Adds what it takes to leave `present` for this set, spread over the stays still to come: the
  // resize pause, the start-up of new GPUs (they are paid while they start; training goes on), the
  // wait for them (the run goes on with what it has), minimum billing. present == nullptr: the run
  // starts, only the wait counts.
  void add_change(CandidateResult* candidate, const CandidateResult* present) const;

  double price_per_h(const GpuCounts& gpus) const;
  const BatchForecast& forecast() const { return forecast_; }
  const ThroughputModel& model() const { return model_; }
  // Of the state; a run whose batch does not adapt keeps its local batch.
  const BatchRules& batch_rules() const { return rules_; }
  // The next epoch's pieces, then what is later; empty when nothing is left.
  const std::vector<Work>& work() const { return work_; }
  // Epochs still to be run, the next included; with rest_progress in epochs at the forecast
  // batches.
  double epochs_left() const { return epochs_left_; }
  // Whether sets choose their own batch for this work.
  bool free_batch(const Work& work) const;

 private:
  BatchChoice choose(const Work& work, const RankedGpus& gpus) const;
  GradientNoise noise(double ratio) const;
  void plan_work();

  const DecisionState& state_;
  BatchRules rules_;
  ThroughputModel model_;
  BatchForecast forecast_;
  std::vector<Work> work_;
  double epochs_left_ = 0;
};

}  // namespace jabas
