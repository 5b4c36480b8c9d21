// The compute times of one GPU type by the rules of the paper's reference implementation, rounding
// included (shared design "reference"), so that its predictions can be reproduced.
// Units: seconds. The reference rounds throughputs in samples/s and times in s.
#pragma once

#include <cstdint>
#include <vector>

#include "allocator/profile.h"

namespace jabas {

struct PassTimes;

struct ReferenceTimes {
  std::vector<PassTimes> passes;  // [V-1] for V = 1 … as many as the rules allow
  std::vector<double> once_s;  // [V-1]: BatchNorm sync + (update + weight copies) · exposed_update
};

// local_batch must be profiled. Beyond the largest profiled V the reference has a rule only if that
// is ≥ 3.
ReferenceTimes reference_times(const TypeProfile& type, std::int64_t local_batch, int max_streams,
                               double exposed_update);

}  // namespace jabas
