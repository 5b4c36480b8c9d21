#include "allocator/rate_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "allocator/progress.h"

namespace jabas {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Rounding to whole workers never moves the global batch further than this from the wanted one (one
// worker or two).
const double kRoundingFactor = std::sqrt(2.0);

double samples_per_s(const TypeModel& model, std::int64_t local_batch) {
  double most = 0;
  for (int streams = 1; streams <= model.max_streams(local_batch); ++streams) {
    const PassTimes pass = model.pass(local_batch, streams);
    most = std::max(
        most, double(local_batch * streams) / (pass.data_s + pass.forward_s + pass.backward_s));
  }
  return most;
}

}  // namespace

RateBound::RateBound(const DecisionState& state, const Predictor& predictor)
    : state_(state), predictor_(predictor) {
  const std::int64_t fixed = predictor.batch_rules().fixed_local_batch;
  std::int64_t last = fixed;
  first_batch_ = fixed > 0 ? fixed : std::numeric_limits<std::int64_t>::max();
  for (const auto& [type, profile] : state.profile.types) {
    if (fixed > 0) break;
    first_batch_ = std::min(first_batch_, predictor.model().find(type)->smallest_batch());
    last = std::max(last, predictor.model().find(type)->largest_batch());
  }
  for (const auto& [type, profile] : state.profile.types) {
    const TypeModel& model = *predictor.model().find(type);
    std::vector<double>& rates = rates_[type];
    for (std::int64_t b = first_batch_; b <= last; ++b) {
      const bool usable = fixed > 0 || (b >= model.smallest_batch() && b <= model.largest_batch());
      rates.push_back(usable ? jabas::samples_per_s(model, b) : 0);
    }
  }
}

double RateBound::samples_per_s(const GpuCounts& gpus) const {
  std::vector<double> sums;
  for (const auto& [type, count] : gpus) {
    const auto known = rates_.find(type);
    if (known == rates_.end())
      continue;  // what an unprofiled type adds is left out of predictions, too
    const std::vector<double>& rates = known->second;
    if (sums.empty()) sums.assign(rates.size(), 0);
    for (std::size_t i = 0; i < rates.size(); ++i)
      sums[i] =
          rates[i] > 0 ? sums[i] + rates[i] * count : -kInfinity;  // must be usable on every type
  }
  return sums.empty() ? 0 : std::max(0.0, *std::max_element(sums.begin(), sums.end()));
}

// R_last at the local batch where it is least: where the profile's straight lines have their ends.
double RateBound::least_last_s(const std::string& type, int gpus, int nodes) const {
  const TypeProfile& profile = state_.profile.types.at(type);
  const TypeModel& model = *predictor_.model().find(type);
  double least_s = model.all_reduce(gpus, nodes, model.smallest_batch()).last_s;
  for (const auto* points : {&profile.sync_intra, &profile.sync_inter})
    for (const ExposedSync& point : *points)
      least_s = std::min(least_s, model.all_reduce(gpus, nodes, point.local_batch).last_s);
  return least_s;
}

double RateBound::work_s(const Work& work, double samples_per_s, const GpuCounts& gpus) const {
  GpuCounts known = gpus;
  std::erase_if(known, [&](const auto& entry) { return !rates_.contains(entry.first); });
  const RankedGpus ranks = ranked(known, state_.profile);
  const int workers = std::max(int(ranks.types.size()), 2);
  std::int64_t clamp_batch = predictor_.batch_rules().fixed_local_batch;
  for (const auto& [type, count] : known)
    clamp_batch = std::max(clamp_batch, predictor_.model().find(type)->smallest_batch());
  const BatchRules& rules = predictor_.batch_rules();
  const bool free = predictor_.free_batch(work);
  const double least =
      free ? double(std::max<std::int64_t>(rules.batch_min, 1)) : work.wanted_batch;
  const double most = free ? double(std::max(rules.batch_max, rules.batch_min)) : work.wanted_batch;
  const double low = least / kRoundingFactor;
  const double high = free && rules.batch_max <= 0
                          ? kInfinity
                          : std::max(most * kRoundingFactor, double(clamp_batch * workers));
  double last_s = 0;
  for (const auto& [type, count] : known)
    last_s = std::max(last_s, least_last_s(type, int(ranks.types.size()), ranks.nodes));
  return work.progress *
         (low / (samples_per_s * gain(low, work.noise)) + last_s / gain(high, work.noise));
}

CandidateResult RateBound::of(const GpuCounts& gpus) const {
  CandidateResult result;
  result.gpus = gpus;
  result.next_epoch_s = result.rest_s = result.rest_cost = kInfinity;
  const double rate = samples_per_s(gpus);
  if (rate <= 0) return result;
  double sum_s = predictor_.epochs_left() * state_.evaluation_s;
  double epoch_s = state_.evaluation_s;
  for (const Work& work : predictor_.work()) {
    sum_s += work_s(work, rate, gpus);
    epoch_s += work.samples / rate;
  }
  result.next_epoch_s = epoch_s;
  result.rest_s = sum_s;
  result.rest_cost = predictor_.price_per_h(gpus) * sum_s / 3600;
  return result;
}

}  // namespace jabas
