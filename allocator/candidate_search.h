// Finds the best sets of GPUs among the candidates: all of them are predicted when they are few,
// else as many as the bounds leave open. Exact either way: the first kBestSets results are those of
// predicting every candidate (candidate_search_tests). Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allocator/prediction.h"

namespace jabas {

constexpr std::size_t kBestSets = 10;
constexpr std::size_t kPredictAllUpTo = 512;

struct SearchResult {
  std::vector<CandidateResult>
      ranked;  // best first, with the cost of changing; at least the kBestSets best
  std::map<std::string, int> rejected;  // cause -> candidates
  std::string certificate;
};

// objective: that of the rest (objective.h). The fastest set is always among the results where the
// order or the reasons need it (time, cost).
// present: the prediction of what the run has, without a cost of changing; nothing at a start.
SearchResult search_candidates(const DecisionState& state, const Predictor& predictor,
                               const Objective& objective, const std::vector<GpuCounts>& sets,
                               const std::optional<CandidateResult>& present,
                               std::size_t predict_all_up_to = kPredictAllUpTo);

}  // namespace jabas
