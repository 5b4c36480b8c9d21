#include "elastic_runner/predictions.h"

#include <ATen/ATen.h>

namespace jabas {

Predictions::Predictions(const at::Tensor& logits, const at::Tensor& labels)
    : logits_(logits.flatten(0, -2)),
      labels_(labels.flatten()),
      labels_per_sample_(static_cast<double>(labels.numel() / labels.size(0))) {}

at::Tensor Predictions::loss_sum() const {
  return at::cross_entropy_loss(logits_, labels_, {}, at::Reduction::Sum);
}

std::int64_t Predictions::correct() const {
  return logits_.argmax(1).eq(labels_).sum().item<std::int64_t>();
}

}  // namespace jabas
