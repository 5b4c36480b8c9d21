// How the times that a run measures compare with those its profile predicts: one factor, learnt by
// recursive least squares, with its uncertainty (shared design "model" 4).
//
// The state is x = ln(factor) with variance P; a report gives z = ln(measured / predicted):
//   P += drift²,  K = P / (P + r²),  x += K·(z − x),  P *= 1 − K,   r² = base² + per_step² / steps.
// Logarithms, because a GPU that is twice as fast as profiled is as far off as one half as fast.
// One factor per GPU type is enough: what differs between two machines of a type (clocks, another
// version of a library, a neighbour on the CPU) stretches all its times about equally, while the
// dependence on b and V is measured offline or by the calibration.
// Robust: a report that is more than three deviations off counts as one that is three off; if the
// next one is as far off on the same side, the change is taken to be real and is followed.
// Threads: one owner.
#pragma once

#include <cstdint>

#include "allocator/profile.h"

namespace jabas {

class OnlineCorrection {
 public:
  OnlineCorrection() = default;  // factor 1, very uncertain
  // Goes on from what was journalled.
  OnlineCorrection(double factor, double deviation, int reports);

  // Typical times over `steps` steps. What is not positive and finite is left out.
  void observe(double predicted_s, double measured_s, std::int64_t steps);

  double factor() const;
  double deviation() const;  // of ln(factor), one standard deviation
  int reports() const { return reports_; }

 private:
  double log_factor_ = 0, variance_ = 0.25;
  int far_off_ = 0;  // side of the last report if it was too far off: −1, 1; else 0
  int reports_ = 0;
};

// All times of a type; all all-reduces.
void scale_times(TypeProfile* type, double factor);
void scale_all_reduces(Profile* profile, double factor);

}  // namespace jabas
