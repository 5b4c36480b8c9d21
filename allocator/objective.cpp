#include "allocator/objective.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "allocator/error.h"
#include "allocator/option_text.h"

namespace jabas {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw UsageError("objective '" + text + "' is not accepted: " + why);
}

// Not a number when the text is not wholly a finite one.
double parse_number(const std::string& text) {
  return real_number(text).value_or(std::numeric_limits<double>::quiet_NaN());
}

// Below `limit` in the order of `value`; `scale` is half-way.
double below(double limit, double value, double scale) {
  return limit * (value > 0 ? value / (value + std::max(scale, 1e-9)) : 0);
}

double share_gained(double before, double after) {
  return before > 0 ? (before - after) / before : 0;
}

}  // namespace

Objective parse_objective(const std::string& text) {
  const auto colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const bool has_value = colon != std::string::npos;
  const double value = has_value ? parse_number(text.substr(colon + 1)) : 0;
  Objective objective;
  if (name == "time") {
    if (!(value >= 0 && value <= 10)) refuse(text, "EPS of time:EPS must be a number, 0..10");
    objective.kind = Objective::Kind::kTime;
    if (has_value) objective.eps = value;
  } else if (name == "cost") {
    if (has_value) refuse(text, "cost takes no value");
    objective.kind = Objective::Kind::kCost;
  } else if (name == "balanced") {
    if (value >= 1)
      refuse(text, "ALPHA of balanced:ALPHA must be below 1; use time to minimise time alone");
    if (!(value >= 0))
      refuse(text, "ALPHA of balanced:ALPHA must be a number of at least 0 and below 1");
    objective.kind = Objective::Kind::kBalanced;
    if (has_value) objective.alpha = value;
  } else if (name == "value") {
    if (!has_value || !(value >= 0))
      refuse(text, "V of value:V must be a number of at least 0, the worth of an hour");
    objective.kind = Objective::Kind::kValue;
    objective.value_per_h = value;
  } else if (name == "deadline") {
    const auto duration = has_value ? duration_s(text.substr(colon + 1)) : std::nullopt;
    if (!duration || *duration <= 0)
      refuse(text, "T of deadline:T must be a duration above 0, such as 8h, 90m, 600s or 1-12:00");
    objective.kind = Objective::Kind::kDeadline;
    objective.deadline_s = *duration;
  } else if (name == "budget") {
    if (!has_value || !(value > 0)) refuse(text, "X of budget:X must be a number above 0");
    objective.kind = Objective::Kind::kBudget;
    objective.budget = value;
  } else if (name == "paper") {
    if (has_value) refuse(text, "paper takes no value");
    objective.kind = Objective::Kind::kPaper;
  } else {
    refuse(text,
           "must be time[:EPS], cost, balanced[:ALPHA], value:V, deadline:T, budget:X or paper");
  }
  return objective;
}

std::string to_text(const Objective& objective) {
  switch (objective.kind) {
    case Objective::Kind::kTime:
      return "time:" + shortest_text(objective.eps);
    case Objective::Kind::kCost:
      return "cost";
    case Objective::Kind::kBalanced:
      return "balanced:" + shortest_text(objective.alpha);
    case Objective::Kind::kValue:
      return "value:" + shortest_text(objective.value_per_h);
    case Objective::Kind::kDeadline:
      return "deadline:" + shortest_text(objective.deadline_s) + "s";
    case Objective::Kind::kBudget:
      return "budget:" + shortest_text(objective.budget);
    case Objective::Kind::kPaper:
      return "paper";
  }
  return "";
}

Objective for_the_rest(Objective objective, double elapsed_s, double spent_cost) {
  objective.deadline_s -= elapsed_s;
  objective.budget -= spent_cost;
  return objective;
}

bool keeps_limit(const CandidateResult& result, const Objective& objective) {
  if (objective.kind == Objective::Kind::kDeadline) return result.rest_s <= objective.deadline_s;
  if (objective.kind == Objective::Kind::kBudget) return result.rest_cost <= objective.budget;
  return true;
}

bool needs_fastest(const Objective& objective) { return objective.kind == Objective::Kind::kTime; }

Rank rank_of(const CandidateResult& result, const Objective& objective, double fastest_s) {
  const double time_s = result.rest_s, cost = result.rest_cost;
  switch (objective.kind) {
    case Objective::Kind::kTime:
      return time_s <= fastest_s * (1 + objective.eps) ? Rank{0, cost} : Rank{1, time_s};
    case Objective::Kind::kCost:
      return {0, cost};
    case Objective::Kind::kBalanced:
      return {0, std::pow(time_s, objective.alpha) * std::pow(cost, 1 - objective.alpha)};
    case Objective::Kind::kValue:
      return {0, cost + objective.value_per_h * time_s / 3600};
    case Objective::Kind::kDeadline:
      return keeps_limit(result, objective) ? Rank{0, cost} : Rank{1, time_s};
    case Objective::Kind::kBudget:
      return keeps_limit(result, objective) ? Rank{0, time_s} : Rank{1, cost};
    case Objective::Kind::kPaper:
      return {0, result.next_epoch_s};
  }
  return {};
}

void rank(std::vector<CandidateResult>* results, const Objective& objective) {
  if (results->empty()) return;
  const CandidateResult fastest =
      *std::min_element(results->begin(), results->end(), [](const auto& a, const auto& b) {
        return std::pair(a.rest_s, a.rest_cost) < std::pair(b.rest_s, b.rest_cost);
      });
  const auto ranked = [&](const CandidateResult& r) {
    return rank_of(r, objective, fastest.rest_s);
  };
  for (CandidateResult& r : *results) {
    const Rank place = ranked(r);
    r.score = place.value;
    if (place.group > 0) continue;
    if (objective.kind == Objective::Kind::kTime)
      r.score = fastest.rest_s * (1 + below(objective.eps, r.rest_cost, fastest.rest_cost));
    if (objective.kind == Objective::Kind::kDeadline)
      r.score = below(objective.deadline_s, r.rest_cost, 1);
    if (objective.kind == Objective::Kind::kBudget)
      r.score = below(objective.budget, r.rest_s, 3600);
  }
  const auto key = [&](const CandidateResult& r) {
    return std::tuple<Rank, double, double, int, const GpuCounts&>(ranked(r), r.rest_s, r.rest_cost,
                                                                   total(r.gpus), r.gpus);
  };
  std::sort(results->begin(), results->end(),
            [&](const CandidateResult& a, const CandidateResult& b) { return key(a) < key(b); });
}

double gain_of_change(const CandidateResult& present, const CandidateResult& better,
                      const Objective& objective) {
  const double in_time = share_gained(present.rest_s, better.rest_s);
  const double in_money = share_gained(present.rest_cost, better.rest_cost);
  const bool deadline = objective.kind == Objective::Kind::kDeadline;
  switch (objective.kind) {
    case Objective::Kind::kTime:
      return std::max(in_time, in_money);
    case Objective::Kind::kPaper:
      return share_gained(present.next_epoch_s, better.next_epoch_s);
    case Objective::Kind::kDeadline:
    case Objective::Kind::kBudget:
      if (!keeps_limit(better, objective)) return deadline ? in_time : in_money;
      if (!keeps_limit(present, objective)) return 1;
      // Where nothing costs anything, time decides.
      return deadline && present.rest_cost > 0 ? in_money : in_time;
    default:
      if (present.score <= 0) return in_time;
      return share_gained(present.score, better.score);
  }
}

}  // namespace jabas
