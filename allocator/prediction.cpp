#include "allocator/prediction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "allocator/batch_choice.h"
#include "allocator/candidates.h"
#include "allocator/cost_model.h"

namespace jabas {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// No step is expected to take longer than its straight line by more.
constexpr double kMostAboveLine = 1.5;
constexpr std::size_t kAskEvery = 4;  // pieces of work between two questions whether it is hopeless

}  // namespace

Predictor::Predictor(const DecisionState& state, BatchForecast forecast)
    : state_(state),
      rules_(state.batch),
      model_(state.profile, state.rules),
      forecast_(std::move(forecast)) {
  if (!state.adaptive && rules_.fixed_local_batch == 0)
    rules_.fixed_local_batch = rules_.current_local_batch;
  plan_work();
  prepare();
}

GradientNoise Predictor::noise(double ratio) const {
  const double base = std::max(double(state_.batch.batch_min), 1.0);
  return ratio > 0 ? GradientNoise{1, ratio, base}
                   : GradientNoise{state_.grad_sqr, state_.grad_var, base};
}

// Progress is what samples bring at the forecast batch; with rest_progress no more of it than is
// left, and the rest of it later.
void Predictor::plan_work() {
  const bool by_progress = state_.rest_progress > 0;
  const int epochs = state_.epochs - state_.next_epoch + 1;
  double left = by_progress ? state_.rest_progress : kInfinity, done = 0;
  if (!by_progress && epochs < 1) return;
  const auto progress = [](double samples, double batch, const GradientNoise& noise) {
    return samples / batch * gain(batch, noise);
  };
  for (const ForecastSegment& segment : forecast_.next_epoch) {
    Work work{segment.wanted_batch, noise(segment.noise_ratio), 0, double(segment.samples)};
    work.progress = progress(work.samples, work.wanted_batch, work.noise);
    if (work.progress > left) {
      work.samples *= left / work.progress;
      work.progress = left;
    }
    left -= work.progress;
    done += work.progress;
    if (work.samples > 0) work_.push_back(work);
  }
  const double batch = forecast_.later_batch;
  const GradientNoise last = noise(forecast_.later_noise_ratio);
  if (!by_progress) left = (epochs - 1) * progress(double(state_.epoch_samples), batch, last);
  epochs_left_ = by_progress ? 1 : epochs;
  std::vector<LaterNoise> pieces = forecast_.later;
  if (pieces.empty()) pieces.push_back({0, forecast_.later_noise_ratio});
  pieces.back().until = kInfinity;
  for (const LaterNoise& piece : pieces) {
    Work later{batch, noise(piece.noise_ratio), 0, 0};
    later.progress = std::clamp(piece.until - done, 0.0, left);
    if (later.progress == 0) continue;
    done += later.progress;
    left -= later.progress;
    if (by_progress)
      epochs_left_ += later.progress / progress(double(state_.epoch_samples), batch, later.noise);
    work_.push_back(later);
  }
}

bool Predictor::free_batch(const Work& work) const {
  return state_.adaptive && state_.batch_policy == BatchPolicy::kGoodput && work.noise.known();
}

void Predictor::prepare() {
  for (const CountRange& range : count_ranges(state_)) {
    if (model_.find(range.type)) {
      types_.push_back(range.type);
      prices_.push_back(state_.supply.at(range.type).price_per_h);
    } else if (range.first > 0) {
      fixed_[range.type] = range.first;
    }
  }
  if (types_.empty()) return;
  std::vector<BatchGoal> goals;
  std::vector<double> seconds;
  for (const Work& work : work_) {
    goals.push_back(free_batch(work) ? goal_of_goodput(work.noise, rules_)
                                     : goal_of_batch(work.wanted_batch, work.noise, rules_));
    seconds.push_back(work.progress * work.wanted_batch / gain(work.wanted_batch, work.noise));
  }
  order_.resize(work_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::size_t a, std::size_t b) { return seconds[a] > seconds[b]; });
  table_.emplace(state_.profile, model_, types_, rules_.fixed_local_batch);
  evaluator_.emplace(types_, *table_, model_, rules_, std::move(goals));
  evaluator_->set_prices(prices_, price_per_h(fixed_));
}

Counts Predictor::counts_of(const GpuCounts& gpus) const {
  Counts counts;
  for (const std::string& type : types_) counts.push_back(count_of(gpus, type));
  return counts;
}

GpuCounts Predictor::gpus_of(const Counts& counts) const {
  GpuCounts gpus = fixed_;
  for (std::size_t t = 0; t < counts.size(); ++t)
    if (counts[t] > 0) gpus[types_[t]] = counts[t];
  return gpus;
}

double Predictor::price_per_h(const GpuCounts& gpus) const {
  double sum = 0;
  for (const auto& [type, count] : gpus) sum += count * state_.supply.at(type).price_per_h;
  return sum;
}

CandidateResult Predictor::total(double progress_s, double epoch_s, double price_per_h) const {
  CandidateResult result;
  result.next_epoch_s = epoch_s + state_.evaluation_s;
  result.rest_s = progress_s + epochs_left() * state_.evaluation_s;
  result.rest_cost = price_per_h * result.rest_s / kSecondsPerHour;
  return result;
}

std::optional<CandidateResult> Predictor::predict(const GpuCounts& gpus, std::string* cause) {
  if (gpus.empty()) {
    *cause = "no GPU";
    return std::nullopt;
  }
  // Types without a profile are in every candidate with the same count (candidates.h): what they
  // add is left out.
  const Counts counts = counts_of(gpus);
  if (std::all_of(counts.begin(), counts.end(), [](int n) { return n == 0; })) {
    *cause = "no profile of any of its GPU types";
    return std::nullopt;
  }
  std::optional<CandidateResult> result = predict_counts(
      counts, [](const CandidateResult&) { return false; }, cause);
  if (!result) return result;
  result->gpus = gpus;
  result->rest_cost = price_per_h(gpus) * result->rest_s / kSecondsPerHour;
  add_configuration(&*result);
  return result;
}

std::optional<CandidateResult> Predictor::predict_counts(const Counts& counts,
                                                         const Hopeless& hopeless,
                                                         std::string* cause) {
  const GpuCounts gpus = gpus_of(counts);
  cause->clear();
  if (gpus.empty()) {
    *cause = "no GPU";
    return std::nullopt;
  }
  const auto profiled = std::count_if(counts.begin(), counts.end(), [](int n) { return n > 0; });
  if (profiled == 0) {
    *cause = "no profile of any of its GPU types";
    return std::nullopt;
  }
  if (!evaluator_->use(counts)) {
    GpuCounts known;
    for (std::size_t t = 0; t < counts.size(); ++t)
      if (counts[t] > 0) known[types_[t]] = counts[t];
    const StepSolver solver(ranked(known, state_.profile), model_);
    usable_batches(solver, rules_, cause);
    return std::nullopt;
  }
  const double price = price_per_h(gpus);
  std::vector<double> progress_s, epoch_s;
  for (std::size_t i = 0; i < work_.size(); ++i) {
    progress_s.push_back(work_[i].progress * evaluator_->line_bound(i, false));
    epoch_s.push_back(0);
  }
  const auto sum = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  bool clamped = false;
  for (std::size_t k = 0; k < order_.size(); ++k) {
    if (k % kAskEvery == 0 && hopeless(total(sum(progress_s), sum(epoch_s), price)))
      return std::nullopt;
    const Work& work = work_[order_[k]];
    const StepChoice choice = evaluator_->choose(order_[k]);
    // A run whose batch does not adapt has its N, too, and sets that need more are not for it.
    if (!state_.adaptive && choice.clamped && choice.batch() > work.wanted_batch) {
      *cause = "more GPUs than the fixed batch has virtual workers";
      return std::nullopt;
    }
    progress_s[order_[k]] = work.progress * choice.step_s / gain(choice.batch(), work.noise);
    if (work.samples == 0) continue;
    clamped = clamped || choice.clamped;
    epoch_s[order_[k]] = std::ceil(work.samples / choice.batch()) * choice.step_s;
  }
  CandidateResult result = total(sum(progress_s), sum(epoch_s), price);
  result.gpus = gpus;
  result.batch_clamped = clamped;
  return result;
}

Predictor::BoxSums Predictor::line_sums(const Counts& lo, const Counts& hi) {
  const bool by_epoch = state_.objective.kind == Objective::Kind::kPaper;
  BoxSums sums;
  sums.least_price = price_per_h(gpus_of(lo));
  sums.most_price = price_per_h(gpus_of(hi));
  for (std::size_t i = 0; i < work_.size(); ++i) {
    sums.parts.push_back(work_[i].progress * evaluator_->line_bound(i, false));
    sums.progress_s += sums.parts.back();
    sums.hour_cost_s += work_[i].progress * evaluator_->price_bound(i);
    sums.epochs.push_back(by_epoch ? work_[i].samples * evaluator_->line_bound(i, true) : 0);
    sums.epoch_s += sums.epochs.back();
  }
  return sums;
}

// Of sets that cost least_price … most_price.
CandidateResult Predictor::bound_of(const BoxSums& sums) const {
  CandidateResult result = total(sums.progress_s, sums.epoch_s, sums.least_price);
  const double by_price =
      (sums.hour_cost_s + sums.least_price * epochs_left() * state_.evaluation_s) / kSecondsPerHour;
  result.rest_cost = std::max(result.rest_cost, by_price);
  if (sums.most_price > 0)
    result.rest_s = std::max(result.rest_s, by_price * kSecondsPerHour / sums.most_price);
  return result;
}

std::optional<CandidateResult> Predictor::line_bound(const Counts& lo, const Counts& hi) {
  if (!evaluator_->use_box(lo, hi)) return std::nullopt;
  return bound_of(line_sums(lo, hi));
}

Predictor::BandBounds Predictor::band_bounds(const Counts& lo, const Counts& hi,
                                             const PriceBand& prices, std::size_t bands,
                                             const std::function<bool(BandBounds*)>& judge) {
  BandBounds bounds;
  if (!evaluator_->use_box(lo, hi)) return bounds;
  const bool by_epoch = state_.objective.kind == Objective::Kind::kPaper;
  const BoxSums lines = line_sums(lo, hi);
  std::vector<BoxSums> sums;
  for (const PriceBand& band : evaluator_->set_bands(prices, bands)) {
    sums.push_back(lines);
    sums.back().least_price = band.from;
    sums.back().most_price = band.to;
    bounds.push_back({band, bound_of(sums.back()), {}, true});
    bounds.back().expected = bounds.back().least;
  }
  const std::vector<double>& parts = by_epoch ? lines.epochs : lines.parts;
  std::vector<double> closer(sums.size(), 0);
  double seen_s = 0;
  double left_s =
      by_epoch ? lines.epoch_s : lines.progress_s;  // by lines, of what is still to come
  for (std::size_t k = 0; k < order_.size(); ++k) {
    if ((k < 2 || k % kAskEvery == 0) && !judge(&bounds)) break;
    const std::size_t i = order_[k];
    evaluator_->set_goal(i, by_epoch);
    left_s -= parts[i];
    for (std::size_t band = 0; band < sums.size(); ++band) {
      if (!bounds[band].open) continue;
      BoxSums& sum = sums[band];
      const double work = by_epoch ? work_[i].samples : work_[i].progress;
      const double own_s = std::max(parts[i], work * evaluator_->band_bound(band));
      double& sum_s = by_epoch ? sum.epoch_s : sum.progress_s;
      sum_s += own_s - parts[i];
      bounds[band].least = bound_of(sum);
      // The first, often the longest by far, does not tell how far the others are from their lines.
      double ratio = kMostAboveLine;
      if (k > 0) {
        closer[band] += own_s;
        ratio = closer[band] / (seen_s + parts[i]);
      }
      BoxSums likely = sum;
      (by_epoch ? likely.epoch_s : likely.progress_s) += left_s * (ratio - 1);
      bounds[band].expected = bound_of(likely);
    }
    if (k > 0) seen_s += parts[i];
  }
  return bounds;
}

void Predictor::add_configuration(CandidateResult* result) {
  GpuCounts known = result->gpus;
  std::erase_if(known, [&](const auto& entry) { return !model_.find(entry.first); });
  evaluator_->use(counts_of(known));
  const StepChoice choice = evaluator_->choose(0);
  const Solution solution =
      solve(ranked(known, state_.profile), choice.local_batch, choice.workers, model_);
  result->configuration = solution.configuration.value();
  if (known != result->gpus) result->configuration.shares.clear();
}

}  // namespace jabas
