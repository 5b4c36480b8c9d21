#include "elastic_runner/gradient_clipping.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace jabas {
namespace {

// The squares of so many floats are summed in float, the sums in double.
constexpr std::int64_t kPiece = 32768;

}  // namespace

double clip_to_norm(at::Tensor& gradient, double limit) {
  const at::NoGradGuard no_grad;
  double sqr = 0;
  for (std::int64_t begin = 0; begin < gradient.numel(); begin += kPiece) {
    const at::Tensor piece = gradient.narrow(0, begin, std::min(kPiece, gradient.numel() - begin));
    const double norm = piece.norm().item<double>();
    sqr += norm * norm;
  }
  const double norm = std::sqrt(sqr);
  if (std::isfinite(norm) && norm > limit) gradient.mul_(limit / norm);
  return norm;
}

}  // namespace jabas
