// What SetEvaluator knows of single GPUs and of sums of their shares, without walking.
#include <algorithm>
#include <cmath>
#include <limits>

#include "allocator/batch_choice.h"
#include "allocator/set_evaluator.h"

namespace jabas {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEqual = 1e-9;
constexpr double kRounding = 1e-12;
constexpr std::uint64_t kSolverEffort = 1000;

}  // namespace

BatchGoal goal_of_batch(double wanted_batch, const GradientNoise& noise, const BatchRules& rules) {
  BatchGoal goal;
  goal.noise = noise;
  goal.wanted = std::max(clipped(wanted_batch, rules), 1.0);
  goal.from = goal.wanted * (1 - kBatchTolerance) - kEqual;
  goal.to = goal.wanted * (1 + kBatchTolerance) + kEqual;
  if (rules.batch_min > 0) goal.from = std::max(goal.from, double(rules.batch_min));
  if (rules.batch_max > 0) goal.to = std::min(goal.to, double(rules.batch_max));
  return goal;
}

BatchGoal goal_of_goodput(const GradientNoise& noise, const BatchRules& rules) {
  BatchGoal goal = goal_of_batch(double(rules.batch_max), noise, rules);
  goal.free = true;
  goal.from = std::max(double(rules.batch_min), 1.0);
  goal.to = double(rules.batch_max);
  return goal;
}

SetEvaluator::Window SetEvaluator::window(const BatchGoal& goal, std::size_t batch) const {
  const double b = double(table_.batch(batch));
  const std::int64_t least = std::max(least_gpus_, rules_.needs_two_workers ? 2 : 1);
  return {std::max(least, std::int64_t(std::ceil(goal.from / b))),
          std::int64_t(std::floor(goal.to / b))};
}

// Of `passes` passes, the exposed all-reduce left out.
double SetEvaluator::own_time(const SpeedTable::Streams& streams, std::int64_t passes,
                              double hidden_s) const {
  return streams.first_s + std::max(0.0, hidden_s - streams.backward_s) +
         streams.accum_s * double(passes - 1);
}

// The most workers in whole multiples of `multiple` = V that one GPU runs within limit_s.
std::int64_t SetEvaluator::most(std::size_t type, std::size_t batch, double limit_s,
                                std::int64_t multiple) const {
  const SpeedTable::Streams& streams = table_.cell(type, batch).streams[multiple - 1];
  const double left_s =
      limit_s * (1 + kRounding) - own_time(streams, 1, lines_[batch].reduce.hidden_s);
  return left_s < 0 ? 0 : multiple * (1 + std::int64_t(left_s / streams.accum_s));
}

void SetEvaluator::set_next(Slot* slot, std::size_t batch) const {
  if (slot->steps) {
    if (++slot->at == slot->steps->size())
      table_.steps(slot->type, batch, slot->steps->back().own_s);
    slot->next_s = (*slot->steps)[slot->at].own_s;
    slot->next_workers = (*slot->steps)[slot->at].workers;
    return;
  }
  const SpeedTable::Cell& cell = table_.cell(slot->type, batch);
  const double hidden_s = lines_[batch].reduce.hidden_s;
  slot->next_s = kInfinity;
  for (int v = 1; v <= cell.max_streams; ++v) {
    const std::int64_t passes = slot->workers / v + 1;
    const double s = own_time(cell.streams[v - 1], passes, hidden_s);
    if (s < slot->next_s || (s == slot->next_s && v * passes > slot->next_workers)) {
      slot->next_s = s;
      slot->next_workers = v * passes;
    }
  }
}

// Where the GPUs of a type stand after time_s.
SetEvaluator::Slot SetEvaluator::slot_at(std::size_t type, std::size_t batch, double time_s) const {
  const SpeedTable::Cell& cell = table_.cell(type, batch);
  Slot slot{type, hi_[type], nullptr, 0, 0, 0, 0};
  if (lines_[batch].reduce.hidden_s <= cell.least_backward_s) {
    const double limit_s = time_s * (1 + kRounding);
    const std::vector<SpeedTable::Step>& steps = table_.steps(type, batch, limit_s);
    // The straight line is never below, and seldom far above.
    std::size_t at =
        std::min(steps.size() - 1,
                 std::size_t(std::max(0.0, (limit_s - cell.offset_s) * cell.workers_per_s + 1)));
    while (steps[at].own_s > limit_s) --at;
    slot.steps = &steps;
    slot.at = at;
    slot.workers = steps[at].workers;
  } else {
    for (int v = 1; v <= cell.max_streams; ++v)
      slot.workers = std::max(slot.workers, most(type, batch, time_s, v));
  }
  set_next(&slot, batch);
  return slot;
}

// Whether exactly so many can be run within limit_s, which is time for at least as many.
bool SetEvaluator::can_run(std::size_t batch, double limit_s, std::int64_t workers) {
  std::int64_t sum = 0, gap = 1, lack = 0;
  std::int64_t least_any = std::numeric_limits<std::int64_t>::max();
  for (std::size_t t = 0; t < hi_.size(); ++t) {
    if (hi_[t] == 0) continue;
    std::int64_t most_workers = 0, own_gap = 1;
    for (int v = 1; v <= table_.cell(t, batch).max_streams; ++v)
      if (const std::int64_t own = most(t, batch, limit_s, v); own > most_workers)
        most_workers = own, own_gap = v;
    sum += most_workers * hi_[t];
    gap = std::max(gap, own_gap);
    // One GPU may run any number that takes one stream.
    least_any = std::min(least_any, most(t, batch, limit_s, 1));
    lack = std::max(lack, most_workers - most(t, batch, limit_s, 1));
  }
  const std::int64_t less = sum - workers;
  // All but one GPU go up from one worker by at most `gap`; that one closes the gaps, as it may run
  // any number that takes a single stream.
  if (less == 0 || (least_any >= gap && less >= lack)) return true;
  for (std::size_t t = 0; t < hi_.size(); ++t) {
    if (hi_[t] == 0) continue;
    std::int64_t most_workers = 0;
    for (int v = 1; v <= table_.cell(t, batch).max_streams; ++v)
      most_workers = std::max(most_workers, most(t, batch, limit_s, v));
    for (int v = 1; v <= table_.cell(t, batch).max_streams; ++v)
      if (less < most_workers && (most_workers - less) % v == 0 &&
          most_workers - less <= most(t, batch, limit_s, v))
        return true;  // one GPU does what is too much
  }
  solver().set_local_batch(table_.batch(batch), workers);
  return solver().feasible(workers, (limit_s + lines_[batch].reduce.last_s) * (1 + kRounding));
}

StepSolver& SetEvaluator::solver() {
  effort_ += kSolverEffort;
  if (!solver_) {
    RankedGpus gpus{{}, most_nodes_};
    for (std::size_t t = 0; t < hi_.size(); ++t)
      gpus.types.insert(gpus.types.end(), std::size_t(hi_[t]), types_[t]);
    solver_ = std::make_unique<StepSolver>(gpus, model_);
  }
  return *solver_;
}

double SetEvaluator::solved_s(std::size_t batch, std::int64_t workers) {
  solver().set_local_batch(table_.batch(batch), workers);
  return solver().solve(workers).step_s;
}

}  // namespace jabas
