#include "allocator/candidate_search.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "allocator/objective.h"
#include "allocator/rate_bound.h"

namespace jabas {
namespace {

// The limit above which no bound needs to be looked at: the kBestSets-th best score so far, and for
// `time` also the end of the band in which money decides.
class Cutoff {
 public:
  explicit Cutoff(const Objective& objective) : objective_(objective) {}

  void add(const CandidateResult& result) {
    best_.push(score(result, objective_));
    if (best_.size() > kBestSets) best_.pop();
    least_ = std::min(least_, score(result, objective_));
  }
  double value() const {
    if (best_.size() < kBestSets) return std::numeric_limits<double>::infinity();
    const bool time = objective_.kind == Objective::Kind::kTime;
    return std::max(best_.top(), time ? least_ * (1 + objective_.eps) : 0);
  }

 private:
  const Objective& objective_;
  std::priority_queue<double> best_;  // the largest of the best on top
  double least_ = std::numeric_limits<double>::infinity();
};

struct Open {
  double bound = 0;  // no score of this set is smaller
  const GpuCounts* set = nullptr;
};

std::string plural(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " candidate" : " candidates");
}

}  // namespace

SearchResult search_candidates(const DecisionState& state, const Predictor& predictor,
                               const std::vector<GpuCounts>& sets,
                               const std::optional<CandidateResult>& present,
                               std::size_t predict_all_up_to) {
  const CandidateResult* before = present ? &*present : nullptr;
  const auto add_change = [&](CandidateResult* result) {
    if (!before || result->gpus != before->gpus) predictor.add_change(result, before);
  };
  const bool all = sets.size() <= predict_all_up_to;
  std::vector<Open> open;
  if (all) {
    for (const GpuCounts& set : sets) open.push_back({0, &set});
  } else {
    const RateBound bound(state, predictor);
    for (const GpuCounts& set : sets) {
      CandidateResult optimistic = bound.of(set);
      add_change(&optimistic);
      open.push_back({score(optimistic, state.objective) * (1 - 1e-9), &set});
    }
    std::stable_sort(open.begin(), open.end(),
                     [](const Open& a, const Open& b) { return a.bound < b.bound; });
  }

  SearchResult search;
  Cutoff cutoff(state.objective);
  std::size_t looked_at = 0;
  for (; looked_at < open.size() && (all || open[looked_at].bound <= cutoff.value()); ++looked_at) {
    std::string cause;
    std::optional<CandidateResult> result = predictor.predict(*open[looked_at].set, &cause);
    if (!result) {
      ++search.rejected[cause];
      continue;
    }
    add_change(&*result);
    cutoff.add(*result);
    search.ranked.push_back(std::move(*result));
  }
  if (looked_at < open.size()) {
    search.rejected["cannot be among the " + std::to_string(kBestSets) + " best (bound)"] =
        int(open.size() - looked_at);
    search.certificate = "exact by bounds: " + std::to_string(looked_at) + " of " +
                         plural(open.size()) + " predicted, no other can be among the " +
                         std::to_string(kBestSets) + " best";
  } else {
    search.certificate = "exhaustive over " + plural(open.size());
  }
  rank(&search.ranked, state.objective);
  return search;
}

}  // namespace jabas
