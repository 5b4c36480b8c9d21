// Predicts, for one set of GPUs, how long the rest of the run takes and what it costs (shared
// design "model" 7):
//   R = Σ progress·τ + evaluation,  τ = T(G, b·N) / gain(b·N),  C = price·R
// and what no set of a box of sets can beat. Progress is bought, not epochs: a set that can only
// run a larger batch than wanted pays for the progress it loses. Without the cost of changing
// (change_cost.h).
// Units: seconds, the price's currency.   Threads: one owner.   Ownership: the state must outlive
// it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocator/batch_forecaster.h"
#include "allocator/progress.h"
#include "allocator/scaling_policy.h"
#include "allocator/set_evaluator.h"
#include "allocator/speed_table.h"
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
  explicit Predictor(const DecisionState& state) : Predictor(state, forecast_batch(state)) {}
  Predictor(const DecisionState& state, BatchForecast forecast);

  // Nothing with *cause when the set cannot run the forecast (never a partial sum).
  std::optional<CandidateResult> predict(const GpuCounts& gpus, std::string* cause);

  // The same by counts of the profiled types, without the configuration. hopeless: asked now and
  // then with what is already sure of rest_s, rest_cost and next_epoch_s; true ends it with *cause
  // empty.
  using Hopeless = std::function<bool(const CandidateResult&)>;
  std::optional<CandidateResult> predict_counts(const Counts& counts, const Hopeless& hopeless,
                                                std::string* cause);
  // Lower bounds of all sets with lo ≤ counts ≤ hi; nothing when none of them can run. by_tables:
  // closer, but slower.
  std::optional<CandidateResult> predict_box(const Counts& lo, const Counts& hi, bool by_tables,
                                             const Hopeless& hopeless);
  // The configuration that the set runs the forecast's begin with.
  void add_configuration(CandidateResult* result);

  // The types with a profile among those of the supply, by name.
  const std::vector<std::string>& types() const { return types_; }
  // What one GPU of a type does for a set, to compare types by: the highest rate in samples/s.
  double weight(std::size_t type) const { return table_->samples_per_s(type); }
  GpuCounts gpus_of(const Counts& counts) const;  // with those of types without a profile

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

 private:
  // Whether sets choose their own batch for this work.
  bool free_batch(const Work& work) const;
  GradientNoise noise(double ratio) const;
  void plan_work();
  void prepare();
  Counts counts_of(const GpuCounts& gpus) const;
  CandidateResult total(double progress_s, double epoch_s, double price_per_h) const;

  const DecisionState& state_;
  BatchRules rules_;
  ThroughputModel model_;
  BatchForecast forecast_;
  std::vector<Work> work_;
  std::vector<std::size_t> order_;  // of work_, what takes longest first
  double epochs_left_ = 0;
  std::vector<std::string> types_;
  GpuCounts fixed_;  // of types without a profile: the same in every candidate
  std::vector<double> prices_;
  std::optional<SpeedTable> table_;
  std::optional<SetEvaluator> evaluator_;
};

}  // namespace jabas
