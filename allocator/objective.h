// Ranks predicted sets of GPUs by what the user wants to minimise (shared design "model" 7). Pure.
#pragma once

#include <vector>

#include "allocator/scaling_policy.h"

namespace jabas {

// What the objective minimises, for one set alone; for `time` it is R, and money counts only in
// rank(). Never falls when R or C grow.
double score(const CandidateResult& result, const Objective& objective);

// Fills in the scores and sorts, best first:
//  cost      C, the money for the rest of the run;
//  value:V   C + V·R;
//  balanced  R^α·C^(1−α) over the whole rest. Its minimum is the best fixed point of `value` with V
//  = α/(1−α)·C/R: by the
//            inequality of weighted means a set with a smaller C + V·R would have a smaller
//            product, too. Trying every candidate therefore equals the fixed point from every
//            start;
//  time:ε    R, where sets within ε of the fastest are ordered by C (their scores lie between R_min
//  and (1+ε)·R_min).
// Equal scores: the faster, then the cheaper, then the smaller set, then by name.
void rank(std::vector<CandidateResult>* results, const Objective& objective);

// What changing from `present` to `better` gains, as a share of the present value: 0.1 = 10 %. For
// `time` the larger of the gains in time and in money, since within ε money decides.
double gain_of_change(const CandidateResult& present, const CandidateResult& better,
                      const Objective& objective);

}  // namespace jabas
