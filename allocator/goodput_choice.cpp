#include "allocator/goodput_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "allocator/batch_choice.h"
#include "allocator/error.h"
#include "allocator/step_solver.h"

namespace jabas {
namespace {

// Relative difference below which two rates count as equal.
constexpr double kEqual = 1e-9;

struct Candidate {
  std::int64_t local_batch = 0, workers = 0;
  double s_per_progress = std::numeric_limits<double>::infinity();
};

struct Span {  // of one local batch: the numbers of workers inside the batch limits
  std::int64_t local_batch = 0, first = 0, last = 0;
  double bound = 0;  // no s_per_progress of it is smaller
};

class GoodputSearch {
 public:
  GoodputSearch(StepSolver& solver, const GradientNoise& noise, std::int64_t current_local_batch)
      : solver_(solver), noise_(noise), current_(current_local_batch) {}

  // With N ≥ a step is at least (N + c)/r long (a straight line under the tables). Over N the
  // quotient by gain(b·N) is convex for c > 0, with its least value at N = √(c·var·B_0/(sqr·b)),
  // and else grows.
  double bound(const Span& span) const {
    const StepLine line = solver_.step_line(span.local_batch);
    double workers = double(span.first);
    if (line.offset_workers > 0)
      workers = std::clamp(std::sqrt(line.offset_workers * noise_.var * noise_.base_batch /
                                     (noise_.sqr * double(span.local_batch))),
                           double(span.first), double(span.last));
    const double step_s = (workers + line.offset_workers) / line.workers_per_s;
    return step_s / gain(double(span.local_batch) * workers, noise_) * (1 - kEqual);
  }

  void look_at(const Span& span) {
    if (span.bound > best_.s_per_progress) return;
    solver_.set_local_batch(span.local_batch, span.last);
    for (const StepSolver::Most& most : solver_.most_workers()) {
      if (most.step_s / gain_of(span, span.last) > best_.s_per_progress * (1 + kEqual)) return;
      if (most.workers >= span.last) {
        fill_up(span, most.step_s);
        return;
      }
      if (most.workers >= span.first) consider(span, most.workers, most.step_s);
    }
  }
  const Candidate& best() const { return best_; }

 private:
  double gain_of(const Span& span, std::int64_t workers) const {
    return gain(double(span.local_batch * workers), noise_);
  }

  // Within least_s the GPUs can hold more workers than the batch limit allows, but perhaps not
  // exactly that many.
  void fill_up(const Span& span, double least_s) {
    for (std::int64_t workers = span.last; workers >= span.first; --workers) {
      if (least_s / gain_of(span, workers) > best_.s_per_progress * (1 + kEqual)) return;
      consider(span, workers, solver_.least_step_s(workers));
    }
  }

  void consider(const Span& span, std::int64_t workers, double step_s) {
    const Candidate found{span.local_batch, workers, step_s / gain_of(span, workers)};
    const double ratio = found.s_per_progress / best_.s_per_progress;
    if (best_.workers == 0 || ratio < 1 - kEqual || (ratio < 1 + kEqual && wins_tie(found)))
      best_ = found;
  }
  bool wins_tie(const Candidate& found) const {
    const auto rank = [&](const Candidate& c) {
      return std::tuple(c.local_batch != current_, c.local_batch * c.workers, -c.local_batch);
    };
    return rank(found) < rank(best_);
  }

  StepSolver& solver_;
  const GradientNoise& noise_;
  std::int64_t current_;
  Candidate best_;
};

std::vector<Span> spans(const std::vector<std::int64_t>& batches, int gpus,
                        const BatchRules& rules) {
  const std::int64_t least = std::max<std::int64_t>(gpus, rules.needs_two_workers ? 2 : 1);
  std::vector<Span> result;
  for (const std::int64_t b : batches) {
    const Span span{b, std::max(least, (rules.batch_min + b - 1) / b), rules.batch_max / b, 0};
    if (span.first <= span.last) result.push_back(span);
  }
  return result;
}

}  // namespace

BatchChoice choose_goodput(const RankedGpus& gpus, const BatchRules& rules,
                           const GradientNoise& noise, const ThroughputModel& model) {
  JABAS_ASSERT(noise.known(), "goodput needs the gradient noise");
  if (gpus.types.empty()) return {std::nullopt, false, "no GPU"};
  for (const std::string& type : gpus.types)
    if (!model.find(type)) return {std::nullopt, false, "the profile has no GPU type " + type};
  StepSolver solver(gpus, model);
  std::string reason;
  const std::vector<std::int64_t> batches = usable_batches(solver, rules, &reason);
  if (batches.empty()) return {std::nullopt, false, reason};
  std::vector<Span> fitting = spans(batches, solver.gpus(), rules);
  if (fitting.empty()) return choose_batch_on(double(rules.batch_max), gpus, rules, model);

  GoodputSearch search(solver, noise, rules.current_local_batch);
  for (Span& span : fitting) span.bound = search.bound(span);
  std::sort(fitting.begin(), fitting.end(), [](const Span& a, const Span& b) {
    return std::tie(a.bound, a.local_batch) < std::tie(b.bound, b.local_batch);
  });
  for (const Span& span : fitting) search.look_at(span);
  solver.set_local_batch(search.best().local_batch, search.best().workers);
  return {solver.solve(search.best().workers), false, ""};
}

}  // namespace jabas
