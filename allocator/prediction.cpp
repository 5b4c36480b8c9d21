#include "allocator/prediction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "allocator/batch_choice.h"
#include "allocator/goodput_choice.h"

namespace jabas {
namespace {

constexpr double kSecondsPerHour = 3600;

int count_of(const GpuCounts& gpus, const std::string& type) {
  const auto found = gpus.find(type);
  return found == gpus.end() ? 0 : found->second;
}

double batch_of(const Configuration& configuration) {
  return double(configuration.local_batch * configuration.virtual_workers);
}

}  // namespace

Predictor::Predictor(const DecisionState& state)
    : state_(state),
      rules_(state.batch),
      model_(state.profile, state.rules),
      forecast_(forecast_batch(state)) {
  if (!state.adaptive && rules_.fixed_local_batch == 0)
    rules_.fixed_local_batch = rules_.current_local_batch;
  plan_work();
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
  double left = by_progress ? state_.rest_progress : std::numeric_limits<double>::infinity();
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
    if (work.samples > 0) work_.push_back(work);
  }
  Work later{forecast_.later_batch, noise(forecast_.later_noise_ratio), 0, 0};
  const double of_epoch = progress(double(state_.epoch_samples), later.wanted_batch, later.noise);
  epochs_left_ = by_progress ? 1 + left / of_epoch : epochs;
  later.progress = by_progress ? left : (epochs - 1) * of_epoch;
  if (later.progress > 0) work_.push_back(later);
}

bool Predictor::free_batch(const Work& work) const {
  return state_.adaptive && state_.batch_policy == BatchPolicy::kGoodput && work.noise.known();
}

// A run whose batch does not adapt has its N, too, and sets that would need more are not for it.
BatchChoice Predictor::choose(const Work& work, const RankedGpus& gpus) const {
  if (free_batch(work)) return choose_goodput(gpus, rules_, work.noise, model_);
  BatchChoice choice = choose_batch_on(work.wanted_batch, gpus, rules_, model_);
  if (!state_.adaptive && choice.clamped && batch_of(*choice.configuration) > work.wanted_batch)
    return {std::nullopt, false, "more GPUs than the fixed batch has virtual workers"};
  return choice;
}

double Predictor::price_per_h(const GpuCounts& gpus) const {
  double sum = 0;
  for (const auto& [type, count] : gpus) sum += count * state_.supply.at(type).price_per_h;
  return sum;
}

std::optional<CandidateResult> Predictor::predict(const GpuCounts& gpus, std::string* cause) const {
  if (gpus.empty()) {
    *cause = "no GPU";
    return std::nullopt;
  }
  // Types without a profile are in every candidate with the same count (candidates.h): what they
  // add is left out.
  GpuCounts known = gpus;
  std::erase_if(known,
                [&](const auto& entry) { return !state_.profile.types.contains(entry.first); });
  if (known.empty()) {
    *cause = "no profile of any of its GPU types";
    return std::nullopt;
  }
  const RankedGpus ranks = ranked(known, state_.profile);

  CandidateResult result;
  result.gpus = gpus;
  double progress_sum_s = 0;
  BatchChoice choice;
  const Work* before = nullptr;
  for (const Work& work : work_) {
    const bool same = before && before->wanted_batch == work.wanted_batch &&
                      before->noise.var == work.noise.var && before->noise.sqr == work.noise.sqr;
    if (!same) choice = choose(work, ranks);
    before = &work;
    if (!choice.configuration) {
      *cause = choice.reason;
      return std::nullopt;
    }
    const Configuration& configuration = *choice.configuration;
    if (&work == &work_.front()) {
      result.configuration = configuration;
      if (known != gpus) result.configuration.shares.clear();
    }
    const double batch = batch_of(configuration);
    if (work.samples > 0) {
      result.batch_clamped = result.batch_clamped || choice.clamped;
      result.next_epoch_s += std::ceil(work.samples / batch) * configuration.step_s;
    }
    progress_sum_s += work.progress * configuration.step_s / gain(batch, work.noise);
  }
  result.next_epoch_s += state_.evaluation_s;
  result.rest_s = progress_sum_s + epochs_left() * state_.evaluation_s;
  result.rest_cost = price_per_h(gpus) * result.rest_s / kSecondsPerHour;
  return result;
}

void Predictor::add_change(CandidateResult* candidate, const CandidateResult* present) const {
  GpuCounts joining, leaving;
  double wait_s = 0;
  for (const auto& [type, supply] : state_.supply) {
    const int before = present ? count_of(present->gpus, type) : supply.base;
    const int change = count_of(candidate->gpus, type) - before;
    if (change > 0) {
      joining[type] = change;
      wait_s = std::max(wait_s, supply.wait_s);
    } else if (change < 0) {
      leaving[type] = -change;
    }
  }
  if (!present) {
    candidate->rest_s += wait_s;
    return;
  }
  const double stay_epochs = state_.epochs_per_stay > 0 ? state_.epochs_per_stay : epochs_left();
  const double changes = std::max(1.0, epochs_left() / stay_epochs);

  // While waiting the run goes on with what it has and does that share of the work.
  if (present->rest_s > 0) {
    const double waited_s = std::min(wait_s * changes, present->rest_s),
                 share = waited_s / present->rest_s;
    candidate->rest_s = waited_s + (1 - share) * candidate->rest_s;
    candidate->rest_cost = share * present->rest_cost + (1 - share) * candidate->rest_cost;
  }
  const double stay_s = candidate->next_epoch_s * stay_epochs;
  const double held_s = present->next_epoch_s * state_.epochs_since_change;
  const double idle_cost =
      price_per_h(joining) * (state_.startup_s + std::max(0.0, state_.minimum_billing_s - stay_s)) +
      price_per_h(leaving) * std::max(0.0, state_.minimum_billing_s - held_s);
  const double pause_cost = price_per_h(candidate->gpus) * state_.resize_pause_s;
  candidate->rest_s += state_.resize_pause_s * changes;
  candidate->rest_cost += (idle_cost + pause_cost) / kSecondsPerHour * changes;
  candidate->next_epoch_s += state_.resize_pause_s;
}

}  // namespace jabas
