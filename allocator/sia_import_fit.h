// Fits the exposed part of an all-reduce to measured steps (shared design "model" 4):
//   base + per_doubling · log₂(n/2) + three_nodes · [at least 3 nodes]
// by least absolute deviations: placements that were measured badly do not move it, and the error
// of the median step is what counts. Where too few different placements exist for all three, the
// last ones are left out (0). per_doubling is never negative: a larger set is not predicted to be
// faster. Units: seconds.
#pragma once

#include <vector>

#include "allocator/profile.h"

namespace jabas {

struct SyncSample {
  int gpus = 2, nodes = 1;
  double exposed_s = 0;  // of the step
  double step_s = 0;     // the whole step, above 0: deviations far below it are noise
};

// At least one sample. The result's local_batch is left 0.
ExposedSync fit_exposed_sync(const std::vector<SyncSample>& samples);

}  // namespace jabas
