#include "allocator/batch_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "allocator/step_solver.h"

namespace jabas {
namespace {

// Relative difference below which two throughputs or distances count as equal.
constexpr double kEqual = 1e-9;
// Slack for bounds, which are computed in other ways.
constexpr double kBoundMargin = 2e-9;

struct Wish {
  double batch = 0;  // wanted, clipped
  // Numbers of virtual workers are multiples of `unit`: GPUs of a unit run the same.
  std::int64_t least_workers = 1, unit = 1;
  // Global batches accepted as the wanted one.
  double from = 0, to = 0;
};

Wish wish(double wanted_batch, int gpus, int unit, const BatchRules& rules) {
  Wish wish;
  wish.batch = std::max(clipped(wanted_batch, rules), 1.0);
  wish.unit = unit;
  wish.least_workers = std::max<std::int64_t>(gpus, rules.needs_two_workers ? 2 : 1);
  wish.from = wish.batch * (1 - kBatchTolerance) - kEqual;
  wish.to = wish.batch * (1 + kBatchTolerance) + kEqual;
  // The user's limits hold as far as the local batches allow.
  if (rules.batch_min > 0) wish.from = std::max(wish.from, double(rules.batch_min));
  if (rules.batch_max > 0) wish.to = std::min(wish.to, double(rules.batch_max));
  return wish;
}

double distance(std::int64_t batch, double wanted) {
  return std::abs(std::log(double(batch) / wanted));
}

// The N whose b·N is nearest to the wanted batch.
std::int64_t nearest_workers(std::int64_t local_batch, const Wish& wish) {
  const auto units = std::int64_t(wish.batch / double(local_batch * wish.unit));
  const std::int64_t below = std::max(wish.least_workers, units * wish.unit);
  const std::int64_t above = below + wish.unit;
  const bool next = distance(local_batch * above, wish.batch) <
                    distance(local_batch * below, wish.batch) - kEqual;
  return next ? above : below;
}

std::string text_of(double batch) {
  const double rounded = std::round(batch * 10) / 10;
  std::string text = std::to_string(std::int64_t(rounded));
  const auto tenths = std::int64_t(std::round(rounded * 10)) % 10;
  return tenths == 0 ? text : text + "." + std::to_string(tenths);
}

std::string clamped_reason(std::int64_t local_batch, std::int64_t workers, const Wish& wish) {
  return "no local batch gives a global batch within 2.5 % of " + text_of(wish.batch) +
         " with at least " + std::to_string(wish.least_workers) + " virtual workers: nearest is " +
         std::to_string(local_batch) + "×" + std::to_string(workers) + " = " +
         std::to_string(local_batch * workers);
}

// Whether the nearest choice counts as the wanted batch all the same (outside the user's limits,
// inside the tolerance).
bool within_tolerance(std::int64_t batch, const Wish& wish) {
  return std::abs(double(batch) / wish.batch - 1) <= kBatchTolerance + kEqual;
}

// The numbers of units' workers (N / unit) of one local batch that give the wanted batch.
struct Span {
  std::int64_t local_batch = 0, first = 0, last = 0;
  double bound_samples_per_s = 0;  // none of them is faster
};

std::vector<Span> spans(StepSolver& solver, const std::vector<std::int64_t>& batches,
                        const Wish& wish) {
  std::vector<Span> result;
  const std::int64_t least = (wish.least_workers + wish.unit - 1) / wish.unit;
  for (const std::int64_t b : batches) {
    const std::int64_t samples = b * wish.unit;
    Span span{b, std::max(least, std::int64_t(std::ceil(wish.from / double(samples)))),
              std::int64_t(std::floor(wish.to / double(samples))), 0};
    if (span.first > span.last) continue;
    // Under a straight line through less than 0 workers the rate is highest for the most of them.
    const StepLine line = solver.step_line(b);
    span.bound_samples_per_s = double(samples * span.last) * line.workers_per_s /
                               (double(span.last) + line.offset_workers);
    result.push_back(span);
  }
  return result;
}

// The highest predicted throughput; equal ones by: the current local batch, the nearest global
// batch, the larger b.
class FastestSearch {
 public:
  FastestSearch(StepSolver& solver, const Wish& wish, std::int64_t current_local_batch)
      : solver_(solver), wish_(wish), current_(current_local_batch) {}

  void look_at(const Span& span) {
    if (best_ && span.bound_samples_per_s < best_->samples_per_s() * (1 - kBoundMargin)) return;
    solver_.set_local_batch(span.local_batch, span.last);
    for (std::int64_t workers = span.last; workers >= span.first; --workers) {
      if (best_) {
        // Fewer workers have less time, so none above what this time allows can replace the best.
        workers = std::min(
            workers, solver_.workers_bound(equal_s(span.local_batch, workers) * (1 + kEqual)));
        if (workers < span.first) return;
        if (!solver_.feasible(workers, limit_s(span.local_batch, workers))) continue;
      }
      best_ = {span.local_batch, workers * wish_.unit, solver_.least_step_s(workers), false};
    }
  }
  const std::optional<BatchPoint>& best() const { return best_; }

 private:
  // The step with which this choice is as fast as the best so far.
  double equal_s(std::int64_t local_batch, std::int64_t workers) const {
    return double(local_batch * workers * wish_.unit) / best_->samples_per_s();
  }
  // The longest step with which it replaces the best.
  double limit_s(std::int64_t local_batch, std::int64_t workers) const {
    return equal_s(local_batch, workers) *
           (wins_ties(local_batch, local_batch * workers * wish_.unit) ? 1 + kEqual : 1 - kEqual);
  }
  bool wins_ties(std::int64_t local_batch, std::int64_t batch) const {
    const bool current = local_batch == current_, best_current = best_->local_batch == current_;
    if (current != best_current) return current;
    const double own = distance(batch, wish_.batch);
    const double other = distance(best_->batch(), wish_.batch);
    if (std::abs(own - other) > kEqual) return own < other;
    return local_batch > best_->local_batch;
  }

  StepSolver& solver_;
  const Wish& wish_;
  std::int64_t current_;
  std::optional<BatchPoint> best_;
};

BatchPoint nearest(StepSolver& solver, const std::vector<std::int64_t>& batches, const Wish& wish,
                   std::int64_t current_local_batch) {
  std::optional<BatchPoint> best;
  double least = std::numeric_limits<double>::infinity();
  for (const std::int64_t b : batches) {
    const std::int64_t workers = nearest_workers(b, wish);
    const double away = distance(b * workers, wish.batch);
    if (away > least + kEqual) continue;
    solver.set_local_batch(b, workers / wish.unit);
    const BatchPoint found{b, workers, solver.least_step_s(workers / wish.unit), false};
    const bool tie = std::abs(away - least) <= kEqual;
    const bool wins_tie =
        best && best->local_batch != current_local_batch &&
        (b == current_local_batch || found.samples_per_s() > best->samples_per_s());
    if (!tie || wins_tie) best = found;
    least = std::min(least, away);
  }
  best->clamped = !within_tolerance(best->batch(), wish);
  return *best;
}

BatchChoice choose_without_profile(const Wish& wish, int gpus, const BatchRules& rules) {
  const std::int64_t b =
      rules.fixed_local_batch > 0 ? rules.fixed_local_batch : rules.current_local_batch;
  if (b < 1) return {std::nullopt, false, "no profile and no local batch given"};
  const std::int64_t workers = nearest_workers(b, wish);
  Configuration configuration = even_split(gpus, b, workers);
  if (within_tolerance(b * workers, wish)) return {std::move(configuration), false, ""};
  return {std::move(configuration), true, clamped_reason(b, workers, wish)};
}

}  // namespace

std::vector<std::int64_t> usable_batches(const StepSolver& solver, const BatchRules& rules,
                                         std::string* reason) {
  std::vector<std::int64_t> batches;
  const bool fixed = rules.fixed_local_batch > 0;
  const std::int64_t first = fixed ? rules.fixed_local_batch : solver.smallest_batch();
  const std::int64_t last = fixed ? rules.fixed_local_batch : solver.largest_batch();
  if (first > last) *reason = "no local batch is profiled on every GPU type of the set";
  for (std::int64_t b = first; b <= last; ++b) {
    const std::string misfit = solver.misfit(b);
    if (misfit.empty())
      batches.push_back(b);
    else if (reason->empty())
      *reason = misfit;
  }
  return batches;
}

double clipped(double wanted_batch, const BatchRules& rules) {
  if (rules.batch_max > 0) wanted_batch = std::min(wanted_batch, double(rules.batch_max));
  return std::max(wanted_batch, double(rules.batch_min));
}

BatchChooser::BatchChooser(const RankedGpus& gpus, const BatchRules& rules,
                           const ThroughputModel& model)
    : rules_(rules) {
  if (gpus.types.empty()) reason_ = "no GPU";
  for (const std::string& type : gpus.types)
    if (!model.find(type) && reason_.empty()) reason_ = "the profile has no GPU type " + type;
  if (!reason_.empty()) return;
  solver_.emplace(gpus, model);
  std::string misfit;
  batches_ = usable_batches(*solver_, rules, &misfit);
  if (batches_.empty()) reason_ = misfit;
}

BatchPoint BatchChooser::point(double wanted_batch) {
  const Wish wanted =
      wish(wanted_batch, solver_->gpus() * solver_->unit(), solver_->unit(), rules_);
  std::vector<Span> fitting = spans(*solver_, batches_, wanted);
  std::stable_sort(fitting.begin(), fitting.end(), [](const Span& a, const Span& b) {
    return a.bound_samples_per_s > b.bound_samples_per_s;
  });
  FastestSearch search(*solver_, wanted, rules_.current_local_batch);
  for (const Span& span : fitting) search.look_at(span);
  return search.best() ? *search.best()
                       : nearest(*solver_, batches_, wanted, rules_.current_local_batch);
}

BatchChoice BatchChooser::choose(double wanted_batch) {
  if (!reason_.empty()) return {std::nullopt, false, reason_};
  const BatchPoint best = point(wanted_batch);
  const int unit = solver_->unit();
  solver_->set_local_batch(best.local_batch, best.virtual_workers / unit);
  Configuration configuration = solver_->solve(best.virtual_workers / unit);
  configuration.virtual_workers = best.virtual_workers;
  if (!best.clamped) return {std::move(configuration), false, ""};
  const Wish wanted = wish(wanted_batch, solver_->gpus() * unit, unit, rules_);
  return {std::move(configuration), true,
          clamped_reason(best.local_batch, best.virtual_workers, wanted)};
}

BatchChoice choose_batch_on(double wanted_batch, const RankedGpus& gpus, const BatchRules& rules,
                            const ThroughputModel& model) {
  return BatchChooser(gpus, rules, model).choose(wanted_batch);
}

BatchChoice choose_batch(double wanted_batch, const RankedGpus& gpus, const BatchRules& rules,
                         const Profile* profile) {
  if (profile) return choose_batch_on(wanted_batch, gpus, rules, ThroughputModel(*profile));
  if (gpus.types.empty()) return {std::nullopt, false, "no GPU"};
  const int count = int(gpus.types.size());
  return choose_without_profile(wish(wanted_batch, count, 1, rules), count, rules);
}

}  // namespace jabas
