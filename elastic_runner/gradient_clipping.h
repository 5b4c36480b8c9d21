// Clipping of a step's gradient by its global norm (Pascanu et al. 2013).
#pragma once

#include <ATen/core/Tensor.h>

namespace jabas {

// Scales the gradient down in place so that its Euclidean norm is at most `limit`. Returns the norm
// before. A norm that is not finite changes nothing: a diverged training shall be seen.
double clip_to_norm(at::Tensor& gradient, double limit);

}  // namespace jabas
