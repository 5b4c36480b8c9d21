#include "allocator/objective.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>

#include "allocator/error.h"

namespace jabas {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw UsageError("objective '" + text + "' is not accepted: " + why);
}

// Not a number when the text is not wholly a finite one.
double parse_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole =
      error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
  return whole ? value : std::numeric_limits<double>::quiet_NaN();
}

std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value)
                       .ptr;  // the shortest text that reads back the same
  return std::string(text, end);
}

// Scores for `time`: R, but inside the band of the fastest the order is that of C.
void score_by_time(std::vector<CandidateResult>* results, double eps) {
  double fastest_s = std::numeric_limits<double>::infinity(), dearest = 0;
  for (const CandidateResult& r : *results) fastest_s = std::min(fastest_s, r.rest_s);
  const double band_s = fastest_s * (1 + eps);
  for (const CandidateResult& r : *results)
    if (r.rest_s <= band_s) dearest = std::max(dearest, r.rest_cost);
  for (CandidateResult& r : *results) {
    const double cost_share = dearest > 0 ? r.rest_cost / dearest : 0;
    r.score = r.rest_s <= band_s ? fastest_s * (1 + eps * cost_share) : r.rest_s;
  }
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
  } else {
    refuse(text, "must be time[:EPS], cost, balanced[:ALPHA] or value:V");
  }
  return objective;
}

std::string to_text(const Objective& objective) {
  switch (objective.kind) {
    case Objective::Kind::kTime:
      return "time:" + number_text(objective.eps);
    case Objective::Kind::kCost:
      return "cost";
    case Objective::Kind::kBalanced:
      return "balanced:" + number_text(objective.alpha);
    case Objective::Kind::kValue:
      return "value:" + number_text(objective.value_per_h);
  }
  return "";
}

double score(const CandidateResult& result, const Objective& objective) {
  switch (objective.kind) {
    case Objective::Kind::kTime:
      return result.rest_s;
    case Objective::Kind::kCost:
      return result.rest_cost;
    case Objective::Kind::kBalanced:
      return std::pow(result.rest_s, objective.alpha) *
             std::pow(result.rest_cost, 1 - objective.alpha);
    case Objective::Kind::kValue:
      return result.rest_cost + objective.value_per_h * result.rest_s / 3600;
  }
  return 0;
}

void rank(std::vector<CandidateResult>* results, const Objective& objective) {
  for (CandidateResult& r : *results) r.score = score(r, objective);
  if (objective.kind == Objective::Kind::kTime) score_by_time(results, objective.eps);
  const auto key = [](const CandidateResult& r) {
    return std::tuple<double, double, double, int, const GpuCounts&>(r.score, r.rest_s, r.rest_cost,
                                                                     total(r.gpus), r.gpus);
  };
  std::sort(results->begin(), results->end(),
            [&](const CandidateResult& a, const CandidateResult& b) { return key(a) < key(b); });
}

double gain_of_change(const CandidateResult& present, const CandidateResult& better,
                      const Objective& objective) {
  if (objective.kind == Objective::Kind::kTime)
    return std::max(share_gained(present.rest_s, better.rest_s),
                    share_gained(present.rest_cost, better.rest_cost));
  // Where nothing costs anything, time decides.
  if (present.score <= 0) return share_gained(present.rest_s, better.rest_s);
  return share_gained(present.score, better.score);
}

}  // namespace jabas
