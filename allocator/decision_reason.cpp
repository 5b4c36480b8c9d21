#include "allocator/decision_reason.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace jabas {
namespace {

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string with_objective(const std::string& text, const Objective& objective) {
  std::string name = to_text(objective);
  if (const auto colon = name.find(':'); colon != std::string::npos) name[colon] = ' ';
  return text + " (" + name + ")";
}

std::string time_and_cost(const CandidateResult& result, const char* between) {
  return seconds_text(result.rest_s) + between + cost_text(result.rest_cost);
}

std::string would_finish(const CandidateResult& better, const CandidateResult& present) {
  return to_text(better.gpus) + " would finish the rest in " + time_and_cost(better, " for ") +
         " against " + time_and_cost(present, " and ") + " with " + to_text(present.gpus);
}

std::string epochs_text(int epochs) {
  return std::to_string(epochs) + (epochs == 1 ? " epoch" : " epochs");
}

}  // namespace

std::string seconds_text(double seconds) {
  if (seconds < 9.95) return format("%.1f s", seconds);
  if (seconds < 600) return format("%.0f s", seconds);
  if (seconds < 7200) return format("%.1f min", seconds / 60);
  return format("%.1f h", seconds / 3600);
}

std::string cost_text(double cost) {
  if (cost >= 0.9995 || cost <= 0) return format("$%.2f", cost);
  // Three significant digits, so that neighbouring sets can be told apart.
  const int digits = int(std::min(9.0, 2 - std::floor(std::log10(cost))));
  char text[64];
  std::snprintf(text, sizeof text, "$%.*f", digits, cost);
  return text;
}

std::string reason_for_start(const CandidateResult& chosen, const CandidateResult* next,
                             const Objective& objective) {
  std::string text =
      to_text(chosen.gpus) + " finishes the run in " + time_and_cost(chosen, " for ");
  if (next)
    text +=
        " against " + time_and_cost(*next, " and ") + " with the next best, " + to_text(next->gpus);
  return "start: " + with_objective(text, objective);
}

std::string reason_for_change(Decision::Action action, const CandidateResult& chosen,
                              const CandidateResult& present, const Objective& objective) {
  return to_text(action) + ": " +
         with_objective(to_text(chosen.gpus) + " finishes the rest in " +
                            time_and_cost(chosen, " for ") + " against " +
                            time_and_cost(present, " and ") + " with " + to_text(present.gpus),
                        objective);
}

std::string reason_for_keep(const CandidateResult& present, const CandidateResult* next,
                            const Objective& objective) {
  std::string text =
      to_text(present.gpus) + " finishes the rest in " + time_and_cost(present, " for ");
  if (next)
    text +=
        " against " + time_and_cost(*next, " and ") + " with the next best, " + to_text(next->gpus);
  else
    text += " and is the only possible set";
  return "keep: " + with_objective(text, objective);
}

std::string reason_for_small_gain(const CandidateResult& present, const CandidateResult& better,
                                  double gain, double needed, const Objective& objective) {
  return "keep: " + with_objective(would_finish(better, present) + ", a gain of " +
                                       format("%.1f %%", gain * 100) + " where a change needs " +
                                       format("%.3g %%", needed * 100),
                                   objective);
}

std::string reason_for_interval(const CandidateResult& present, const CandidateResult& better,
                                int since, int needed, const Objective& objective) {
  return "keep: " + with_objective(would_finish(better, present) + ", but the last change was " +
                                       epochs_text(since) + " ago and changes are at least " +
                                       epochs_text(needed) + " apart",
                                   objective);
}

std::string missed_limit(const CandidateResult& chosen, bool possible, const Objective& rest) {
  if (rest.kind == Objective::Kind::kDeadline) {
    const std::string late = seconds_text(chosen.rest_s - rest.deadline_s);
    return possible ? "; the deadline is missed by " + late
                    : "; no set keeps the deadline: the fastest is " + late + " late";
  }
  const std::string over = cost_text(chosen.rest_cost - rest.budget);
  return possible ? "; the budget is exceeded by " + over
                  : "; no set keeps the budget: the cheapest exceeds it by " + over;
}

}  // namespace jabas
