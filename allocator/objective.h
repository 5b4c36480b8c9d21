// Ranks predicted sets of GPUs by what the user wants to minimise (shared design "model" 7). Pure.
#pragma once

#include <compare>
#include <vector>

#include "allocator/scaling_policy.h"

namespace jabas {

// The objective of what is left: a deadline less the time that has passed, a budget less what was
// spent (either may be negative then).
Objective for_the_rest(Objective objective, double elapsed_s, double spent_cost);

// Whether a deadline or a budget is kept; true for every other objective.
bool keeps_limit(const CandidateResult& result, const Objective& objective);

// Whether rank_of depends on the fastest set of all.
bool needs_fastest(const Objective& objective);

// A set's place in the order of preference, first by group; smaller is better. Never falls when the
// set's times or its cost grow, so the place of a lower bound is a bound of the place.
//  cost      C, the money for the rest of the run;
//  value:V   C + V·R;
//  balanced  R^α·C^(1−α) over the whole rest. Its minimum is the best fixed point of `value` with V
//            = α/(1−α)·C/R: by the inequality of weighted means a set with a smaller C + V·R would
//            have a smaller product, too. Comparing all sets therefore equals the fixed point from
//            every start;
//  time:ε    sets within ε of the fastest by C, then the others by R;
//  deadline  sets with R ≤ T by C, then the others by R: the fastest when none is in time. All sets
//            are compared, so V need not be bisected, which would only find sets on the convex hull
//            of (R, C);
//  budget    sets with C ≤ X by R, then the others by C;
//  paper     the next epoch's time, as published (money and the rest do not count).
struct Rank {
  int group = 0;
  double value = 0;
  auto operator<=>(const Rank&) const = default;
};
Rank rank_of(const CandidateResult& result, const Objective& objective, double fastest_s);

// Fills in the scores and sorts by rank, best first; equal ones: the faster, then the cheaper, then
// the smaller set, then by name. A score never falls along the order: the rank's value; with a
// limit (time: the band's end) the sets that keep it lie below it and the others have what they
// need.
void rank(std::vector<CandidateResult>* results, const Objective& objective);

// What changing from `present` to `better` gains, as a share of the present value: 0.1 = 10 %. For
// `time` the larger of the gains in time and in money, since within ε money decides. With a limit:
// what is gained in what the objective minimises while both keep it or both do not, and everything
// (1) if only the change keeps it.
double gain_of_change(const CandidateResult& present, const CandidateResult& better,
                      const Objective& objective);

}  // namespace jabas
