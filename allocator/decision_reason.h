// The one sentence that says why a decision was made, with the numbers that made it. Pure.
#pragma once

#include <string>

#include "allocator/scaling_policy.h"

namespace jabas {

// "8.3 s", "61 s", "14.2 min", "3.2 h".
std::string seconds_text(double seconds);
// "$1.25", "$0.0512".
std::string cost_text(double cost);

// Why the chosen set won, or why the present one stays although another is better. `better`: the
// best other set, or nullptr.
std::string reason_for_start(const CandidateResult& chosen, const CandidateResult* next,
                             const Objective& objective);
std::string reason_for_change(Decision::Action action, const CandidateResult& chosen,
                              const CandidateResult& present, const Objective& objective);
std::string reason_for_keep(const CandidateResult& present, const CandidateResult* next,
                            const Objective& objective);
std::string reason_for_small_gain(const CandidateResult& present, const CandidateResult& better,
                                  double gain, double needed, const Objective& objective);
std::string reason_for_interval(const CandidateResult& present, const CandidateResult& better,
                                int since, int needed, const Objective& objective);

// "; no set keeps the deadline: …" or, when another set would, "; the deadline is missed by …". With
// the objective of the rest; the chosen set does not keep its limit.
std::string missed_limit(const CandidateResult& chosen, bool possible, const Objective& rest);

}  // namespace jabas
