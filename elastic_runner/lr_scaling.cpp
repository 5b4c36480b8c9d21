#include "elastic_runner/lr_scaling.h"

#include <cmath>

#include "allocator/error.h"

namespace jabas {

double lr_factor(const std::string& scaling, double global_batch, double batch_min) {
  if (scaling == "none") return 1;
  if (scaling == "linear") return global_batch / batch_min;
  if (scaling == "sqrt") return std::sqrt(global_batch / batch_min);
  throw UsageError("--lr-scaling=" + scaling + ": accepted are sqrt, linear and none");
}

}  // namespace jabas
