// The learning rate's factor for a global batch (shared design "model" 3).
//
// sqrt: √(B/B_min).   linear: B/B_min.   none: 1.
// adascale: the gain of a step (Johnson et al. 2020), (σ² + μ²)/(σ²·B_min/B + μ²), with σ² the
// gradient's variance at B_min and μ² = |G|²: B/B_min while noise dominates, 1 once it does not.
// For Adam and its kin, which divide by the gradient's size, its root.
// Pure.
#pragma once

#include <string>

namespace jabas {

struct BatchSituation {
  double global_batch = 1, batch_min = 1;  // B, B_min
  double sqr = 0, trace = 0;  // averages of |G|² and tr Σ as measured, so perhaps negative
  bool normalised = false;    // the optimizer divides by the gradient's size
};

// Throws UsageError for an unknown name.
double lr_factor(const std::string& scaling, const BatchSituation& batch);

}  // namespace jabas
