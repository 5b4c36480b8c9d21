// The choices of SetEvaluator for one set.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "allocator/batch_choice.h"
#include "allocator/set_evaluator.h"
#include "allocator/set_walk.h"

namespace jabas {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEqual = 1e-9;
constexpr double kRounding = 1e-12;

double distance(double batch, double wanted) { return std::abs(std::log(batch / wanted)); }

}  // namespace

double SetEvaluator::exact_s(std::size_t batch, std::int64_t workers) {
  double step_s = 0;
  walk(batch, workers, line_s(batch, workers), [&](std::int64_t, double time_s) {
    step_s = time_s;
    return false;
  });
  if (can_run(batch, step_s, workers)) return step_s + lines_[batch].reduce.last_s;
  return solved_s(batch, workers);
}

// The highest throughput in the window; equal ones by: the current local batch, the nearest global
// batch, the larger b. Nothing if no local batch has a window.
StepChoice SetEvaluator::fastest(const BatchGoal& goal, std::size_t hint) {
  StepChoice best;
  double most_per_s = 0;
  const auto wins_tie = [&](const StepChoice& found) {
    const auto order = [&](const StepChoice& c) {
      return std::pair(c.local_batch == rules_.current_local_batch,
                       -distance(c.batch(), goal.wanted));
    };
    const auto [current, near] = order(found);
    const auto [best_current, best_near] = order(best);
    if (current != best_current) return current;
    if (std::abs(near - best_near) > kEqual) return near > best_near;
    return found.local_batch > best.local_batch;
  };
  const auto consider = [&](const StepChoice& found) {
    const double per_s = found.batch() / found.step_s, ratio = per_s / most_per_s;
    if (best.workers == 0 || ratio > 1 + kEqual || (ratio > 1 - kEqual && wins_tie(found))) {
      best = found;
      most_per_s = per_s;
    }
  };
  const auto look_at = [&](std::size_t i) {
    const Line& line = lines_[i];
    if (goal.to < most_per_s * (1 - kEqual) * (line.least_s + line.per_sample_s * goal.to)) return;
    const Window own = window(goal, i);
    if (own.empty()) return;
    const std::int64_t b = table_.batch(i);
    walk(i, own.first, line_s(i, own.first), [&](std::int64_t workers, double time_s) {
      const double step_s = time_s + line.reduce.last_s;
      if (workers <= own.last) {
        consider({b, workers, step_s, false});
        return workers < own.last;
      }
      if (double(b * own.last) / step_s < most_per_s * (1 - kEqual)) return false;
      if (can_run(i, time_s, own.last)) {
        consider({b, own.last, step_s, false});
      } else {
        for (std::int64_t n = own.first; n <= own.last; ++n) {
          const double batch = double(b * n);
          if (batch >= most_per_s * (1 - kEqual) * (line.least_s + line.per_sample_s * batch))
            consider({b, n, solved_s(i, n), false});
        }
      }
      return false;
    });
  };
  if (lines_[hint].usable) look_at(hint);
  for (const std::size_t i : usable_)
    if (i != hint) look_at(i);
  return best;
}

StepChoice SetEvaluator::nearest(const BatchGoal& goal) {
  const std::int64_t least_workers =
      std::max<std::int64_t>(least_gpus_, rules_.needs_two_workers ? 2 : 1);
  StepChoice best;
  double least = kInfinity, most_per_s = 0;
  for (const std::size_t i : usable_) {
    const std::int64_t b = table_.batch(i);
    std::int64_t workers = std::max(least_workers, std::int64_t(goal.wanted / double(b)));
    if (distance(double(b * (workers + 1)), goal.wanted) <
        distance(double(b * workers), goal.wanted) - kEqual)
      ++workers;
    const double away = distance(double(b * workers), goal.wanted);
    if (away > least + kEqual) continue;
    const StepChoice found{b, workers, exact_s(i, workers), false};
    const bool tie = std::abs(away - least) <= kEqual;
    const double per_s = found.batch() / found.step_s;
    const bool wins_tie = best.local_batch != rules_.current_local_batch &&
                          (b == rules_.current_local_batch || per_s > most_per_s);
    if (!tie || wins_tie) {
      best = found;
      most_per_s = per_s;
    }
    least = std::min(least, away);
  }
  best.clamped = std::abs(best.batch() / goal.wanted - 1) > kBatchTolerance + kEqual;
  return best;
}

// Least step_s / gain; equal ones by: the current local batch, the smaller global batch, the larger
// b. Nothing if no local batch has a window.
StepChoice SetEvaluator::best_goodput(const BatchGoal& goal, std::size_t hint) {
  const Weights weight = weights(goal, false);
  StepChoice best;
  double least = kInfinity;
  const auto order = [&](const StepChoice& c) {
    return std::tuple(c.local_batch != rules_.current_local_batch, c.batch(), -c.local_batch);
  };
  const auto consider = [&](const StepChoice& found) {
    const double value = found.step_s * weight.of(found.batch()), ratio = value / least;
    if (best.workers == 0 || ratio < 1 - kEqual ||
        (ratio < 1 + kEqual && order(found) < order(best))) {
      best = found;
      least = value;
    }
  };
  const auto look_at = [&](std::size_t i) {
    const Window own = window(goal, i);
    if (own.empty()) return;
    const std::int64_t b = table_.batch(i);
    const Bound line{lines_[i].least_s, lines_[i].per_sample_s, 0};
    const Window open = below(line, double(b), own, weight, least * (1 + kEqual));
    if (open.empty()) return;
    walk(i, open.first, line_s(i, open.first), [&](std::int64_t workers, double time_s) {
      const double step_s = time_s + lines_[i].reduce.last_s;
      if (workers <= own.last) {
        consider({b, workers, step_s, false});
        return workers < open.last;
      }
      for (std::int64_t n = own.last; n >= own.first; --n) {
        if (step_s * weight.of(double(b * n)) > least * (1 + kEqual)) break;
        const bool all = can_run(i, time_s, n);
        consider({b, n, all ? step_s : solved_s(i, n), false});
        if (all) break;
      }
      return false;
    });
  };
  if (lines_[hint].usable) look_at(hint);
  for (const std::size_t i : usable_)
    if (i != hint) look_at(i);
  return best;
}

StepChoice SetEvaluator::choose(std::size_t index) {
  const BatchGoal& goal = goals_[index];
  effort_ += 3 * usable_.size();
  StepChoice choice = goal.free ? best_goodput(goal, hints_[index]) : fastest(goal, hints_[index]);
  if (choice.workers == 0 && goal.free) {
    BatchGoal largest = goal_of_batch(goal.wanted, goal.noise, rules_);
    choice = fastest(largest, hints_[index]);
  }
  if (choice.workers == 0) choice = nearest(goal);
  hints_[index] = std::size_t(choice.local_batch - table_.batch(0));
  return choice;
}

// The numbers of workers of a window for which the straight line is not above `limit`: a quotient
// that is convex in N, so between two roots.
SetEvaluator::Window SetEvaluator::below(const Bound& line, double b, const Window& all,
                                         const Weights& weight, double limit) {
  if (limit == kInfinity) return all;
  // (least_s + s·B)·(share/B + rest) ≤ limit  ⇔  s·rest·B² + m·B + least_s·share ≤ 0
  const double square = line.per_sample_s * weight.rest;
  const double middle = line.least_s * weight.rest + line.per_sample_s * weight.share - limit;
  const double constant = line.least_s * weight.share;
  double from, to;
  if (square <= 0) {
    if (middle >= 0) return {1, 0};
    from = constant / -middle;
    to = double(all.last) * b;
  } else {
    const double root = middle * middle - 4 * square * constant;
    if (middle >= 0 || root < 0) return {1, 0};
    const double sum = -middle + std::sqrt(root);
    from = 2 * constant / sum;
    to = sum / (2 * square);
  }
  return {std::max(all.first, std::int64_t(std::min(from / b * (1 - kEqual), 1e15))),
          std::min(all.last, std::int64_t(std::min(to / b * (1 + kEqual), 1e15)) + 1)};
}

}  // namespace jabas
