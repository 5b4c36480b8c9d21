// What it takes to leave the present set for another one, spread over the stays still to come: the
// resize pause, the start-up of new GPUs (they are paid while they start; training goes on), the
// wait for them (the run goes on with what it has), minimum billing. At a start (no present set)
// only the wait counts. Pure. Units: seconds, the price's currency.   Ownership: everything handed
// over must outlive it.
#pragma once

#include "allocator/prediction.h"

namespace jabas {

class ChangeCost {
 public:
  ChangeCost(const DecisionState& state, const Predictor& predictor,
             const CandidateResult* present);

  // Adds it to the prediction of a set; nothing for the present one.
  void add(CandidateResult* candidate) const;
  // Adds what every change to a set of the box costs at least, to a lower bound.
  void add_least(const Counts& lo, const Counts& hi, CandidateResult* bound) const;

 private:
  int before(const std::string& type, const TypeSupply& supply) const;
  // While waiting the run goes on with what it has and does that share of the work.
  void wait(double wait_s, CandidateResult* candidate) const;

  const DecisionState& state_;
  const Predictor& predictor_;
  const CandidateResult* present_;
  double stay_epochs_ = 1, changes_ = 1;
  double leaving_billed_s_ = 0;  // of what has been held for less than the minimum billing
};

}  // namespace jabas
