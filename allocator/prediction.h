// Predicts, for one set of GPUs, how long the rest of the run takes and what it costs (shared
// design "model" 7):
//   R = Σ progress·τ + evaluation,  τ = T(G, b·N) / gain(b·N),  C = price·R
// and what changing to the set adds. Progress is bought, not epochs: a set that can only run a
// larger batch than wanted pays for the progress it loses. Units: seconds, the price's currency.
// Threads: const, safe to share.   Ownership: the state must outlive it.
#pragma once

#include <optional>
#include <string>

#include "allocator/batch_forecaster.h"
#include "allocator/progress.h"
#include "allocator/scaling_policy.h"
#include "allocator/throughput_model.h"

namespace jabas {

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
  GradientNoise noise() const;
  // Epochs still to be run, the next included.
  int epochs_left() const { return state_.epochs - state_.next_epoch + 1; }

 private:
  double progress_s(double samples, double wanted_batch, const Configuration& configuration) const;

  BatchChoice choose(double wanted_batch, const RankedGpus& gpus) const;

  const DecisionState& state_;
  BatchRules rules_;
  ThroughputModel model_;
  BatchForecast forecast_;
};

}  // namespace jabas
