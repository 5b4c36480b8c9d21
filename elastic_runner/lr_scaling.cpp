#include "elastic_runner/lr_scaling.h"

#include <algorithm>
#include <cmath>

#include "allocator/error.h"
#include "allocator/progress.h"

namespace jabas {
namespace {

double adascale(const BatchSituation& batch) {
  const GradientNoise noise{std::max(0.0, batch.sqr), std::max(0.0, batch.trace) / batch.batch_min,
                            batch.batch_min};
  // An average that is not positive is one too small to be told from 0.
  if (noise.var == 0) return 1;
  return gain(batch.global_batch, noise);  // with |G|² = 0 it is B/B_min
}

}  // namespace

double lr_factor(const std::string& scaling, const BatchSituation& batch) {
  const double ratio = batch.global_batch / batch.batch_min;
  if (scaling == "none") return 1;
  if (scaling == "linear") return ratio;
  if (scaling == "sqrt") return std::sqrt(ratio);
  if (scaling == "adascale") {
    const double gained = adascale(batch);
    return batch.normalised ? std::sqrt(gained) : gained;
  }
  throw UsageError("--lr-scaling=" + scaling + ": accepted are sqrt, linear, adascale and none");
}

}  // namespace jabas
