#include "allocator/candidate_search.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "allocator/objective.h"
#include "allocator/rate_bound.h"

namespace jabas {
namespace {

// A set and what is known of it: first a bound (no time or cost of it is smaller), then the
// prediction.
struct Open {
  CandidateResult optimistic;
  bool predicted = false, possible = false;
};

std::string plural(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " candidate" : " candidates");
}

// The `count`-th best rank of what was predicted; the worst there is while these are fewer.
class Cutoff {
 public:
  explicit Cutoff(std::size_t count) : count_(count) {}
  void add(const Rank& rank) {
    best_.push(rank);
    if (best_.size() > count_) best_.pop();
  }
  Rank value() const {
    return best_.size() < count_ ? Rank{2, std::numeric_limits<double>::infinity()} : best_.top();
  }

 private:
  std::size_t count_;
  std::priority_queue<Rank> best_;  // the worst of the best on top
};

}  // namespace

SearchResult search_candidates(const DecisionState& state, const Predictor& predictor,
                               const Objective& objective, const std::vector<GpuCounts>& sets,
                               const std::optional<CandidateResult>& present,
                               std::size_t predict_all_up_to) {
  const CandidateResult* before = present ? &*present : nullptr;
  const auto add_change = [&](CandidateResult* result) {
    if (!before || result->gpus != before->gpus) predictor.add_change(result, before);
  };
  const bool all = sets.size() <= predict_all_up_to;
  std::vector<Open> open;
  const RateBound bound(state, predictor);
  for (const GpuCounts& set : sets) {
    open.push_back({});
    open.back().optimistic.gpus = set;
    if (!all) {
      open.back().optimistic = bound.of(set);
      const double epoch_s = open.back().optimistic.next_epoch_s;
      // Nothing is added for stays that a slower epoch would make longer.
      open.back().optimistic.next_epoch_s = std::numeric_limits<double>::infinity();
      add_change(&open.back().optimistic);
      open.back().optimistic.next_epoch_s = epoch_s;
    }
  }

  SearchResult search;
  std::size_t looked_at = 0;
  const auto predict = [&](Open& one) {
    if (one.predicted) return;
    one.predicted = true;
    ++looked_at;
    std::string cause;
    std::optional<CandidateResult> result = predictor.predict(one.optimistic.gpus, &cause);
    if (!result) {
      ++search.rejected[cause];
      return;
    }
    add_change(&*result);
    one.possible = true;
    one.optimistic = std::move(*result);
    search.ranked.push_back(one.optimistic);
  };
  // Predicts in the order of the bounds until no open set can be among the `count` best.
  const auto look_for = [&](const Objective& goal, double fastest_s, std::size_t count) {
    Cutoff cutoff(count);
    std::vector<std::pair<Rank, Open*>> order;
    for (Open& one : open) {
      if (one.predicted && !one.possible) continue;
      Rank rank = rank_of(one.optimistic, goal, fastest_s);
      if (!one.predicted) rank.value *= 1 - 1e-9;
      order.emplace_back(rank, &one);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [rank, one] : order) {
      if (!all && rank > cutoff.value()) return;
      predict(*one);
      if (one->possible) cutoff.add(rank_of(one->optimistic, goal, fastest_s));
    }
  };
  double fastest_s = 0;
  if (needs_fastest(objective) || objective.kind == Objective::Kind::kCost) {
    look_for({.kind = Objective::Kind::kTime, .eps = -1}, 0, 1);
    fastest_s = std::numeric_limits<double>::infinity();
    for (const CandidateResult& r : search.ranked) fastest_s = std::min(fastest_s, r.rest_s);
  }
  look_for(objective, fastest_s, kBestSets);
  if (looked_at < open.size()) {
    search.rejected["cannot be among the " + std::to_string(kBestSets) + " best (bound)"] =
        int(open.size() - looked_at);
    search.certificate = "exact by bounds: " + std::to_string(looked_at) + " of " +
                         plural(open.size()) + " predicted, no other can be among the " +
                         std::to_string(kBestSets) + " best";
  } else {
    search.certificate = "exhaustive over " + plural(open.size());
  }
  rank(&search.ranked, objective);
  return search;
}

}  // namespace jabas
