// Stochastic gradient descent with momentum on flat buffers; the same bits as torch::optim::SGD
// (flat_sgd_tests). Threads: one at a time.
#pragma once

#include <ATen/core/Tensor.h>

namespace jabas {

class FlatSgd {
 public:
  explicit FlatSgd(const at::Tensor& weights);
  // m <- momentum * m + gradient; weights <- weights - learning_rate * m
  void step(const at::Tensor& gradient, double learning_rate, double momentum);
  // Lives as long as this object; zeros before the first step.
  const at::Tensor& momentum_buffer() const { return buffer_; }

 private:
  at::Tensor weights_, buffer_;
};

}  // namespace jabas
