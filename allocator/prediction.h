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
  // What no set with lo ≤ counts ≤ hi can beat, by straight lines; nothing when none can run.
  std::optional<CandidateResult> line_bound(const Counts& lo, const Counts& hi);
  // The same, closer and slower, for those of the sets with a price per hour within `prices`, in
  // bands of prices.
  struct BandBound {
    PriceBand prices;
    CandidateResult least;
    CandidateResult expected;  // what `least` is likely to come to, no bound
    bool open = true;          // closed: no closer bound is needed
  };
  using BandBounds = std::vector<BandBound>;
  // judge: asked now and then with what is known so far, may close bands; false ends it.
  BandBounds band_bounds(const Counts& lo, const Counts& hi, const PriceBand& prices,
                         std::size_t bands, const std::function<bool(BandBounds*)>& judge);
  // The configuration that the set runs the forecast's begin with.
  void add_configuration(CandidateResult* result);

  // See SetEvaluator::effort.
  std::uint64_t effort() const { return evaluator_ ? evaluator_->effort() : 0; }
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
  struct BoxSums {
    double progress_s = 0, epoch_s = 0, hour_cost_s = 0, least_price = 0, most_price = 0;
    std::vector<double> parts, epochs;  // by work: what is in progress_s and epoch_s
  };
  BoxSums line_sums(const Counts& lo, const Counts& hi);
  CandidateResult bound_of(const BoxSums& sums) const;
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
