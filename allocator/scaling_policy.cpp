#include "allocator/scaling_policy.h"

#include <algorithm>
#include <optional>

#include "allocator/candidate_search.h"
#include "allocator/candidates.h"
#include "allocator/decision_reason.h"
#include "allocator/objective.h"
#include "allocator/prediction.h"
#include "allocator/profile.h"

namespace jabas {
namespace {

Decision::Action action_between(const GpuCounts& before, const GpuCounts& after) {
  bool more = false, fewer = false;
  const auto compare = [&](const GpuCounts& a, const GpuCounts& b, bool* larger) {
    for (const auto& [type, count] : a) {
      const auto other = b.find(type);
      if (count > (other == b.end() ? 0 : other->second)) *larger = true;
    }
  };
  compare(after, before, &more);
  compare(before, after, &fewer);
  if (more && fewer) return Decision::Action::kSwap;
  if (more) return Decision::Action::kGrow;
  return fewer ? Decision::Action::kShrink : Decision::Action::kKeep;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Without any prediction a run must still begin: with its minimum, else with one member of the type
// that promises most (by TFLOP/s, per price unless only time counts), to be measured there.
std::optional<GpuCounts> set_to_measure(const DecisionState& state) {
  GpuCounts minimum;
  for (const CountRange& range : count_ranges(state)) minimum[range.type] = range.first;
  minimum = normalized(minimum);
  if (!minimum.empty()) return minimum;
  const bool any_free = std::any_of(state.supply.begin(), state.supply.end(),
                                    [](const auto& entry) { return entry.second.free > 0; });
  std::optional<GpuCounts> best;
  double most = -1;
  for (const auto& [type, supply] : state.supply) {
    if (supply.max < state.unit || (any_free && supply.free < state.unit)) continue;
    const bool per_price = state.objective.kind != Objective::Kind::kTime && supply.price_per_h > 0;
    const double promise = builtin_tflops(type) / (per_price ? supply.price_per_h : 1);
    if (promise > most) {
      most = promise;
      best = GpuCounts{{type, state.unit}};
    }
  }
  return best;
}

std::string why_nothing(const Decision& decision) {
  std::string text;
  for (const auto& [cause, count] : decision.rejected)
    text += (text.empty() ? "" : "; ") + cause + " (" + std::to_string(count) + ")";
  return text.empty() ? "no GPU may be used" : text;
}

// No candidate could be predicted.
void decide_blindly(const DecisionState& state, Decision* decision) {
  const std::optional<GpuCounts> set = state.start ? set_to_measure(state) : std::nullopt;
  if (set) {
    decision->action = Decision::Action::kStart;
    decision->after = *set;
    decision->reason =
        "start: " + to_text(*set) + " without a prediction: " + why_nothing(*decision);
  } else {
    decision->after = decision->before;
    decision->reason = "keep: no set of GPUs can be predicted: " + why_nothing(*decision);
  }
  decision->chosen.gpus = decision->after;
}

// rest: the objective of what is left.
void choose(const DecisionState& state, const Objective& rest,
            const std::vector<CandidateResult>& ranked, Decision* decision) {
  const CandidateResult& best = ranked.front();
  const CandidateResult* second = ranked.size() > 1 ? &ranked[1] : nullptr;
  const bool present_runs = !decision->present.gpus.empty();
  decision->chosen = best;
  if (state.start) {
    decision->action = Decision::Action::kStart;
    decision->reason = reason_for_start(best, second, state.objective);
    return;
  }
  decision->action = action_between(decision->before, best.gpus);
  if (decision->action == Decision::Action::kKeep) {
    decision->reason = reason_for_keep(best, second, state.objective);
    return;
  }
  if (!present_runs) {
    decision->reason = to_text(decision->action) + ": " + to_text(best.gpus) +
                       " finishes the rest in " + seconds_text(best.rest_s) + " for " +
                       cost_text(best.rest_cost) + "; " +
                       (decision->before.empty() ? "nothing is held"
                                                 : to_text(decision->before) + " cannot go on");
    return;
  }
  if (const auto missing = types_below_minimum(state, decision->before); !missing.empty()) {
    decision->reason =
        reason_for_change(decision->action, best, decision->present, state.objective) + "; " +
        joined(missing) + " was below its minimum";
    return;
  }
  const double gain = gain_of_change(decision->present, best, rest);
  if (state.epochs_since_change < state.min_interval_epochs) {
    decision->reason = reason_for_interval(decision->present, best, state.epochs_since_change,
                                           state.min_interval_epochs, state.objective);
  } else if (gain < state.hysteresis) {
    decision->reason =
        reason_for_small_gain(decision->present, best, gain, state.hysteresis, state.objective);
  } else {
    decision->reason =
        reason_for_change(decision->action, best, decision->present, state.objective);
    return;
  }
  decision->action = Decision::Action::kKeep;
  decision->chosen = decision->present;
}

// What the user must know beside the comparison: a batch that does not fit, a limit that is missed,
// the price of counting money alone.
void add_remarks(const Objective& rest, const std::vector<CandidateResult>& ranked,
                 Decision* decision) {
  const CandidateResult& chosen = decision->chosen;
  if (chosen.batch_clamped)
    decision->reason +=
        "; batch clamped to " +
        std::to_string(chosen.configuration.local_batch * chosen.configuration.virtual_workers);
  if (!keeps_limit(chosen, rest))
    decision->reason += missed_limit(chosen, keeps_limit(ranked.front(), rest), rest);
  if (rest.kind != Objective::Kind::kCost) return;
  const auto fastest =
      std::min_element(ranked.begin(), ranked.end(),
                       [](const auto& a, const auto& b) { return a.rest_s < b.rest_s; });
  if (chosen.rest_s > 2 * fastest->rest_s)
    decision->reason += "; cost alone counts: a faster set, " + to_text(fastest->gpus) +
                        ", needs " + seconds_text(fastest->rest_s) + " for " +
                        cost_text(fastest->rest_cost);
}

// Up to ten, best first, the chosen one among them.
std::vector<CandidateResult> best_of(const std::vector<CandidateResult>& ranked,
                                     const CandidateResult& chosen) {
  std::vector<CandidateResult> best(ranked.begin(),
                                    ranked.begin() + std::min(ranked.size(), kBestSets));
  const bool has_chosen = std::any_of(
      best.begin(), best.end(), [&](const CandidateResult& r) { return r.gpus == chosen.gpus; });
  if (!has_chosen) best.back() = chosen;
  return best;
}

}  // namespace

std::string to_text(BatchPolicy policy) {
  switch (policy) {
    case BatchPolicy::kPaper:
      return "paper";
    case BatchPolicy::kSimilarity:
      return "similarity";
    case BatchPolicy::kGoodput:
      return "goodput";
  }
  return "";
}

std::string to_text(Decision::Action action) {
  switch (action) {
    case Decision::Action::kStart:
      return "start";
    case Decision::Action::kKeep:
      return "keep";
    case Decision::Action::kGrow:
      return "grow";
    case Decision::Action::kShrink:
      return "shrink";
    case Decision::Action::kSwap:
      return "swap";
  }
  return "";
}

Decision decide(const DecisionState& state) { return decide(state, forecast_batch(state)); }

Decision decide(const DecisionState& state, const BatchForecast& forecast) {
  Predictor predictor(state, forecast);
  Decision decision;
  decision.forecast_batch = forecast.next_epoch.front().wanted_batch;
  decision.forecast_method = forecast.method;
  if (!state.start) decision.before = present_set(state);

  if (predictor.work().empty()) {
    decision.after = decision.chosen.gpus = decision.before;
    decision.reason = "keep: no epoch is left";
    return decision;
  }

  std::optional<CandidateResult> present;
  std::string cause;
  if (!decision.before.empty()) present = predictor.predict(decision.before, &cause);

  const bool leave = present && !types_below_minimum(state, decision.before).empty();
  const Objective rest = for_the_rest(state.objective, state.elapsed_s, state.spent_cost);
  SearchResult search = search_candidates(state, predictor, rest, present, leave);
  std::vector<CandidateResult>& results = search.ranked;
  decision.rejected = std::move(search.rejected);
  decision.certificate = std::move(search.certificate);
  if (results.empty()) {
    decide_blindly(state, &decision);
    return decision;
  }
  for (std::size_t i = 0; i < std::min(results.size(), kBestSets); ++i)
    predictor.add_configuration(&results[i]);
  if (present) {
    decision.present = *present;
    decision.present.score = rank_of(*present, rest, results.front().rest_s).value;
  }
  for (const CandidateResult& result : results)
    if (result.gpus == decision.before) decision.present.score = result.score;
  choose(state, rest, results, &decision);
  add_remarks(rest, results, &decision);
  decision.after = decision.chosen.gpus;
  decision.best = best_of(results, decision.chosen);
  return decision;
}

}  // namespace jabas
