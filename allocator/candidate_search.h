// Finds the best sets of GPUs among all candidates, exactly, without looking at each of them: best
// first, branch and bound over boxes of counts, bounded band by band of what their sets cost
// (Predictor::band_bounds), down to single sets, which are predicted. The first kBestSets results
// are those of predicting every candidate (candidate_search_tests). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allocator/change_cost.h"
#include "allocator/prediction.h"

namespace jabas {

constexpr std::size_t kBestSets = 10;

struct SearchRules {
  double predict_all_up_to = 32;  // candidates
  // Steps of work (SetEvaluator::effort) after which the search ends with what it has and says so
  // in the certificate: about a second.
  std::uint64_t most_effort = 60'000'000;
};

struct SearchResult {
  // Best first, with the cost of changing; at least the kBestSets best, and the fastest set where
  // the order or the reasons need it (time, cost). Their configurations are not filled in.
  std::vector<CandidateResult> ranked;
  std::map<std::string, int> rejected;  // cause -> candidates
  std::string certificate;
};

// objective: that of the rest (objective.h). present: the prediction of what the run has, without a
// cost of changing; nothing at a start. The present set itself is a candidate unless `leave` is
// set.
SearchResult search_candidates(const DecisionState& state, Predictor& predictor,
                               const Objective& objective,
                               const std::optional<CandidateResult>& present, bool leave,
                               const SearchRules& rules = {});

}  // namespace jabas
