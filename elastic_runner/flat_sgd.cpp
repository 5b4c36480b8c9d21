#include "elastic_runner/flat_sgd.h"

#include <ATen/ATen.h>

namespace jabas {

FlatSgd::FlatSgd(const at::Tensor& weights) : weights_(weights), buffer_(at::zeros_like(weights)) {}

void FlatSgd::step(const at::Tensor& gradient, double learning_rate, double momentum) {
  const at::NoGradGuard no_grad;
  if (momentum == 0) {
    weights_.add_(gradient, -learning_rate);
    return;
  }
  buffer_.mul_(momentum).add_(gradient);
  weights_.add_(buffer_, -learning_rate);
}

}  // namespace jabas
