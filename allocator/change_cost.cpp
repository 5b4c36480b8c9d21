#include "allocator/change_cost.h"

#include <algorithm>

#include "allocator/cost_model.h"

namespace jabas {

ChangeCost::ChangeCost(const DecisionState& state, const Predictor& predictor,
                       const CandidateResult* present)
    : state_(state), predictor_(predictor), present_(present) {
  stay_epochs_ = state.epochs_per_stay > 0 ? state.epochs_per_stay : predictor.epochs_left();
  changes_ = std::max(1.0, predictor.epochs_left() / stay_epochs_);
  if (present)
    leaving_billed_s_ =
        std::max(0.0, state.minimum_billing_s - present->next_epoch_s * state.epochs_since_change);
}

int ChangeCost::before(const std::string& type, const TypeSupply& supply) const {
  return present_ ? count_of(present_->gpus, type) : supply.base;
}

void ChangeCost::wait(double wait_s, CandidateResult* candidate) const {
  if (!present_) {
    candidate->rest_s += wait_s;
    return;
  }
  if (present_->rest_s <= 0) return;
  const double waited_s = std::min(wait_s * changes_, present_->rest_s),
               share = waited_s / present_->rest_s;
  candidate->rest_s = waited_s + (1 - share) * candidate->rest_s;
  candidate->rest_cost = share * present_->rest_cost + (1 - share) * candidate->rest_cost;
}

void ChangeCost::add(CandidateResult* candidate) const {
  if (present_ && candidate->gpus == present_->gpus) return;
  double joining = 0, leaving = 0, wait_s = 0;  // price per hour of what joins and leaves
  for (const auto& [type, supply] : state_.supply) {
    const int change = count_of(candidate->gpus, type) - before(type, supply);
    if (change > 0) {
      joining += change * supply.price_per_h;
      wait_s = std::max(wait_s, supply.wait_s);
    } else {
      leaving -= change * supply.price_per_h;
    }
  }
  wait(wait_s, candidate);
  if (!present_) return;
  const double stay_s = candidate->next_epoch_s * stay_epochs_;
  const double billed_s = state_.startup_s + std::max(0.0, state_.minimum_billing_s - stay_s);
  const double price = predictor_.price_per_h(candidate->gpus);
  candidate->rest_s += state_.resize_pause_s * changes_;
  candidate->rest_cost +=
      (joining * billed_s + leaving * leaving_billed_s_ + price * state_.resize_pause_s) /
      kSecondsPerHour * changes_;
  candidate->next_epoch_s += state_.resize_pause_s;
}

void ChangeCost::add_least(const Counts& lo, const Counts& hi, CandidateResult* bound) const {
  double joining = 0, leaving = 0, least_wait_s = 0, most_wait_s = 0;
  for (std::size_t t = 0; t < lo.size(); ++t) {
    const std::string& type = predictor_.types()[t];
    const TypeSupply& supply = state_.supply.at(type);
    const int now = before(type, supply);
    joining += std::max(0, lo[t] - now) * supply.price_per_h;
    leaving += std::max(0, now - hi[t]) * supply.price_per_h;
    if (lo[t] > now) least_wait_s = std::max(least_wait_s, supply.wait_s);
    if (hi[t] > now) most_wait_s = std::max(most_wait_s, supply.wait_s);
  }
  // Types without a profile: the same count in every set.
  for (const auto& [type, supply] : state_.supply) {
    if (predictor_.model().find(type)) continue;
    const int change = count_of(predictor_.gpus_of(lo), type) - before(type, supply);
    if (change > 0) least_wait_s = std::max(least_wait_s, supply.wait_s);
    if (change > 0) most_wait_s = std::max(most_wait_s, supply.wait_s);
  }
  // Waiting is a straight line from the set's own time and cost to the present set's, so that each
  // is least at one of the ends.
  CandidateResult longest = *bound;
  wait(least_wait_s, bound);
  wait(most_wait_s, &longest);
  bound->rest_s = std::min(bound->rest_s, longest.rest_s);
  bound->rest_cost = std::min(bound->rest_cost, longest.rest_cost);
  if (!present_) return;
  const double price = predictor_.price_per_h(predictor_.gpus_of(lo));
  bound->rest_s += state_.resize_pause_s * changes_;
  bound->rest_cost +=
      (joining * state_.startup_s + leaving * leaving_billed_s_ + price * state_.resize_pause_s) /
      kSecondsPerHour * changes_;
  bound->next_epoch_s += state_.resize_pause_s;
}

}  // namespace jabas
