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

struct Wish {
  double batch = 0;  // wanted, clipped
  std::int64_t least_workers = 1;
  // Global batches accepted as the wanted one.
  double from = 0, to = 0;
};

Wish wish(double wanted_batch, int gpus, const BatchRules& rules) {
  Wish wish;
  wish.batch = std::max(clipped(wanted_batch, rules), 1.0);
  wish.least_workers = std::max<std::int64_t>(gpus, rules.needs_two_workers ? 2 : 1);
  wish.from = wish.batch * (1 - kBatchTolerance) - kEqual;
  wish.to = wish.batch * (1 + kBatchTolerance) + kEqual;
  // The user's limits hold as far as the local batches allow.
  if (rules.batch_min > 0) wish.from = std::max(wish.from, double(rules.batch_min));
  if (rules.batch_max > 0) wish.to = std::min(wish.to, double(rules.batch_max));
  return wish;
}

double distance(std::int64_t local_batch, std::int64_t workers, double wanted) {
  return std::abs(std::log(double(local_batch * workers) / wanted));
}

// The N whose b·N is nearest to the wanted batch.
std::int64_t nearest_workers(std::int64_t local_batch, const Wish& wish) {
  const std::int64_t below =
      std::max(wish.least_workers, std::int64_t(wish.batch / double(local_batch)));
  const bool next = distance(local_batch, below + 1, wish.batch) <
                    distance(local_batch, below, wish.batch) - kEqual;
  return below + (next ? 1 : 0);
}

std::string text_of(double batch) {
  const double rounded = std::round(batch * 10) / 10;
  std::string text = std::to_string(std::int64_t(rounded));
  const auto tenths = std::int64_t(std::round(rounded * 10)) % 10;
  return tenths == 0 ? text : text + "." + std::to_string(tenths);
}

BatchChoice clamped_choice(Configuration configuration, const Wish& wish) {
  const std::int64_t batch = configuration.local_batch * configuration.virtual_workers;
  std::string reason =
      "no local batch gives a global batch within 2.5 % of " + text_of(wish.batch) +
      " with at least " + std::to_string(wish.least_workers) + " virtual workers: nearest is " +
      std::to_string(configuration.local_batch) + "×" +
      std::to_string(configuration.virtual_workers) + " = " + std::to_string(batch);
  return {std::move(configuration), true, std::move(reason)};
}

// Whether the nearest choice counts as the wanted batch all the same (outside the user's limits,
// inside the tolerance).
bool within_tolerance(std::int64_t batch, const Wish& wish) {
  return std::abs(double(batch) / wish.batch - 1) <= kBatchTolerance + kEqual;
}

struct Span {  // the numbers of workers of one local batch that give the wanted batch
  std::int64_t local_batch = 0, first = 0, last = 0;
  double bound_samples_per_s = 0;
};

std::vector<Span> spans(const StepSolver& solver, const std::vector<std::int64_t>& batches,
                        const Wish& wish) {
  std::vector<Span> result;
  for (const std::int64_t b : batches) {
    Span span{b, std::max(wish.least_workers, std::int64_t(std::ceil(wish.from / double(b)))),
              std::int64_t(std::floor(wish.to / double(b))), 0};
    if (span.first > span.last) continue;
    span.bound_samples_per_s =
        double(b) * solver.workers_per_s_bound(b, span.last - solver.gpus() + 1);
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
    if (best_ && span.bound_samples_per_s < best_->samples_per_s() * (1 - kEqual)) return;
    solver_.set_local_batch(span.local_batch, span.last);
    for (std::int64_t workers = span.first; workers <= span.last; ++workers) {
      if (best_ && !solver_.feasible(workers, limit_s(span.local_batch, workers))) continue;
      best_ = solver_.solve(workers);
    }
  }
  const std::optional<Configuration>& best() const { return best_; }

 private:
  // The longest step with which this choice replaces the best so far.
  double limit_s(std::int64_t local_batch, std::int64_t workers) const {
    const double equal_s = double(local_batch * workers) / best_->samples_per_s();
    return equal_s * (wins_ties(local_batch, workers) ? 1 + kEqual : 1 - kEqual);
  }
  bool wins_ties(std::int64_t local_batch, std::int64_t workers) const {
    const bool current = local_batch == current_, best_current = best_->local_batch == current_;
    if (current != best_current) return current;
    const double own = distance(local_batch, workers, wish_.batch);
    const double other = distance(best_->local_batch, best_->virtual_workers, wish_.batch);
    if (std::abs(own - other) > kEqual) return own < other;
    return local_batch > best_->local_batch;
  }

  StepSolver& solver_;
  const Wish& wish_;
  std::int64_t current_;
  std::optional<Configuration> best_;
};

Configuration nearest(StepSolver& solver, const std::vector<std::int64_t>& batches,
                      const Wish& wish, std::int64_t current_local_batch) {
  std::optional<Configuration> best;
  double least = std::numeric_limits<double>::infinity();
  for (const std::int64_t b : batches) {
    const std::int64_t workers = nearest_workers(b, wish);
    const double away = distance(b, workers, wish.batch);
    if (away > least + kEqual) continue;
    solver.set_local_batch(b, workers);
    Configuration found = solver.solve(workers);
    const bool tie = std::abs(away - least) <= kEqual;
    const bool wins_tie =
        best && best->local_batch != current_local_batch &&
        (b == current_local_batch || found.samples_per_s() > best->samples_per_s());
    if (!tie || wins_tie) best = std::move(found);
    least = std::min(least, away);
  }
  return *best;
}

BatchChoice choose_without_profile(const Wish& wish, int gpus, const BatchRules& rules) {
  const std::int64_t b =
      rules.fixed_local_batch > 0 ? rules.fixed_local_batch : rules.current_local_batch;
  if (b < 1) return {std::nullopt, false, "no profile and no local batch given"};
  const std::int64_t workers = nearest_workers(b, wish);
  Configuration configuration = even_split(gpus, b, workers);
  if (within_tolerance(b * workers, wish)) return {std::move(configuration), false, ""};
  return clamped_choice(std::move(configuration), wish);
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

BatchChoice choose_batch_on(double wanted_batch, const RankedGpus& gpus, const BatchRules& rules,
                            const ThroughputModel& model) {
  if (gpus.types.empty()) return {std::nullopt, false, "no GPU"};
  for (const std::string& type : gpus.types)
    if (!model.find(type)) return {std::nullopt, false, "the profile has no GPU type " + type};
  StepSolver solver(gpus, model);
  std::string reason;
  const std::vector<std::int64_t> batches = usable_batches(solver, rules, &reason);
  if (batches.empty()) return {std::nullopt, false, reason};

  const Wish wanted = wish(wanted_batch, solver.gpus(), rules);
  std::vector<Span> fitting = spans(solver, batches, wanted);
  std::stable_sort(fitting.begin(), fitting.end(), [](const Span& a, const Span& b) {
    return a.bound_samples_per_s > b.bound_samples_per_s;
  });
  FastestSearch search(solver, wanted, rules.current_local_batch);
  for (const Span& span : fitting) search.look_at(span);
  if (search.best()) return {search.best(), false, ""};

  Configuration near = nearest(solver, batches, wanted, rules.current_local_batch);
  if (within_tolerance(near.local_batch * near.virtual_workers, wanted))
    return {std::move(near), false, ""};
  return clamped_choice(std::move(near), wanted);
}

BatchChoice choose_batch(double wanted_batch, const RankedGpus& gpus, const BatchRules& rules,
                         const Profile* profile) {
  if (profile) return choose_batch_on(wanted_batch, gpus, rules, ThroughputModel(*profile));
  if (gpus.types.empty()) return {std::nullopt, false, "no GPU"};
  return choose_without_profile(wish(wanted_batch, int(gpus.types.size()), rules),
                                int(gpus.types.size()), rules);
}

}  // namespace jabas
