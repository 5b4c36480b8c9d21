// For one set of GPUs after the other: which (b, N) each piece of work runs with and how long a
// step takes then; and for a box of sets (counts between lo and hi) what no set in it can beat. The
// same answers as choose_batch_on and choose_goodput (set_evaluator_tests), many times faster,
// since nothing is prepared per set.
//
// How: within a step of time L the GPUs hold at most W(L) = Σ_t c_t·w_t(L) workers, w_t(L) the most
// that one GPU of type t runs within L. W workers can always be run, and for N < W it is nearly
// always so (can_run); so it is enough to walk over the few times at which W passes through the
// wanted numbers. W never falls when a count grows, so for a box the counts hi and the least
// all-reduce give a bound. A straight line under the tables gives the place where the walk begins
// and a bound that leaves most b out.
//
// Units: seconds, samples; progress in steps at batch_min.   Threads: one owner.
// Ownership: everything handed over must outlive it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocator/config_solver.h"
#include "allocator/progress.h"
#include "allocator/speed_table.h"
#include "allocator/step_solver.h"

namespace jabas {

// What is to be run. free: at the batch of most progress per second inside [from, to]; else at the
// wanted batch, which every one in [from, to] counts as.
struct BatchGoal {
  bool free = false;
  double wanted = 1, from = 1, to = 1;
  GradientNoise noise;
};
BatchGoal goal_of_batch(double wanted_batch, const GradientNoise& noise, const BatchRules& rules);
BatchGoal goal_of_goodput(const GradientNoise& noise, const BatchRules& rules);

struct StepChoice {
  std::int64_t local_batch = 0, workers = 0;
  double step_s = 0;
  bool clamped = false;
  double batch() const { return double(local_batch * workers); }
};

// Price of a set's GPUs per hour.
struct PriceBand {
  double from = 0, to = std::numeric_limits<double>::infinity();
};

using Counts = std::vector<int>;  // by type, in the order of the table

class SetEvaluator {
 public:
  SetEvaluator(const std::vector<std::string>& types, const SpeedTable& table,
               const ThroughputModel& model, const BatchRules& rules, std::vector<BatchGoal> goals);

  // The set that is asked about from now on. False if no local batch can be used on all its types.
  bool use(const Counts& counts) { return use_box(counts, counts); }
  // As many of each type as lo … hi.
  bool use_box(const Counts& lo, const Counts& hi);

  // Steps of work done so far, the same on every machine: 10 to 20 ns.
  std::uint64_t effort() const { return effort_; }

  // Of a set. The goal's choice.
  StepChoice choose(std::size_t goal);
  // Of a set or a box: no choice for the goal has a smaller step_s / gain (by_samples: step_s /
  // batch). By the straight lines.
  double line_bound(std::size_t goal, bool by_samples) const;
  // The same for the price of the box's GPUs per hour times that, from the price of each type's GPU
  // and of all others.
  void set_prices(std::vector<double> prices, double other);
  double price_bound(std::size_t goal) const;
  // The sets of the box with a price per hour within `prices` in bands, ascending; at most `count`,
  // none if no set has such a price.
  const std::vector<PriceBand>& set_bands(const PriceBand& prices, std::size_t count);
  // As line_bound, but by the tables, for the sets of one band after the other, ascending.
  void set_goal(std::size_t goal, bool by_samples);
  double band_bound(std::size_t band);

 private:
  struct Line {  // of one local batch: N workers take at least reduce.last_s + offset_s + N / rate
    bool usable = false;
    double rate = 0, offset_s = 0, first_s = 0;  // first_s: every GPU runs one worker
    double least_s = 0, per_sample_s = 0;        // a step of B samples: least_s + per_sample_s · B
    double price_per_sample = 0;                 // the same for the price times that
    AllReduceTimes reduce;
  };
  struct Bound {  // of a step at any local batch, as in Line; first_s: with the exposed all-reduce
    double least_s = 0, per_sample_s = 0, first_s = 0;
  };
  struct Slot {  // of one type while walking
    std::size_t type = 0;
    int count = 0;
    // Where the all-reduce hides wholly the table's, and the place in them; else nullptr.
    const std::vector<SpeedTable::Step>* steps = nullptr;
    std::size_t at = 0;
    std::int64_t workers = 0;
    double next_s = 0;
    std::int64_t next_workers = 0;
  };
  struct Window {
    std::int64_t first = 0, last = 0;
    bool empty() const { return first > last; }
  };
  struct Weights {  // 1 / gain(B) = share/B + rest
    double share = 0, rest = 0;
    double of(double batch) const { return share / batch + rest; }
  };

  AllReduceTimes least_reduce(std::size_t batch) const;
  void set_line(std::size_t batch);
  void set_bounds();
  double least_of(const std::vector<Bound>& bounds, std::size_t goal, const Weights& weights) const;
  Window window(const BatchGoal& goal, std::size_t batch) const;
  // Of the batches that the sets of the box may come to run.
  std::pair<double, double> span(std::size_t goal) const;
  Weights weights(const BatchGoal& goal, bool by_samples) const;

  double own_time(const SpeedTable::Streams& streams, std::int64_t passes, double hidden_s) const;
  std::int64_t most(std::size_t type, std::size_t batch, double limit_s,
                    std::int64_t multiple) const;
  void set_next(Slot* slot, std::size_t batch) const;
  Slot slot_at(std::size_t type, std::size_t batch, double time_s) const;
  // visit(most workers, seconds without the exposed all-reduce), ascending, from the first time
  // with at least `first` workers until it returns false; from_s: no such time is earlier.
  template <class Visit>
  void walk(std::size_t batch, std::int64_t first, double from_s, Visit visit);
  // When by the straight line so many can be run.
  double line_s(std::size_t batch, std::int64_t workers) const {
    const Line& line = lines_[batch];
    return (line.offset_s + double(workers) / line.rate) * (1 - 1e-9);
  }
  bool can_run(std::size_t batch, double limit_s, std::int64_t workers);
  double exact_s(std::size_t batch, std::int64_t workers);
  double solved_s(std::size_t batch, std::int64_t workers);  // by the solver: slow
  // Least seconds / gain over the batches from … to.
  static double least_value(const Bound& bound, const Weights& weights, double from, double to);
  // The most Σ amounts_·count in the box for a price per hour.
  double most_for(double price_per_h);
  void look_at_band(std::size_t batch, std::size_t band);
  static Window below(const Bound& line, double local_batch, const Window& all,
                      const Weights& weights, double limit);
  StepSolver& solver();

  StepChoice fastest(const BatchGoal& goal, std::size_t hint);
  StepChoice nearest(const BatchGoal& goal);
  StepChoice best_goodput(const BatchGoal& goal, std::size_t hint);

  const std::vector<std::string>& types_;
  const SpeedTable& table_;
  const ThroughputModel& model_;
  const BatchRules& rules_;
  std::vector<BatchGoal> goals_;
  std::vector<std::size_t> hints_;  // by goal: index of the local batch that was best last time

  Counts lo_, hi_;
  int least_gpus_ = 0, most_gpus_ = 0, least_nodes_ = 0, most_nodes_ = 0;
  std::vector<Line> lines_;
  std::vector<std::size_t> usable_;
  std::vector<Bound> time_bounds_, price_bounds_;
  std::vector<Slot> slots_;
  std::vector<double> prices_;
  double other_price_ = 0, least_price_ = 0;
  std::vector<PriceBand> bands_;
  std::vector<double> band_rates_;  // [band][batch]: as Line::rate; empty = not asked for yet
  struct BandGoal {
    std::size_t goal = 0, best_batch = 0;
    Weights weights;
    double from = 0, to = 0, least = 0;  // batches, seconds / gain
  };
  BandGoal band_goal_;
  std::vector<double> amounts_;
  std::vector<std::pair<double, std::size_t>> cheapest_;
  std::unique_ptr<StepSolver> solver_;
  mutable std::uint64_t effort_ = 0;
};

}  // namespace jabas
