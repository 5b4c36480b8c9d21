// What a model predicts for the labels of a batch: one per image, or one per byte of a text.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace jabas {

class Predictions {
 public:
  // logits [n, classes] and labels [n], or [n, length, classes] and [n, length].
  Predictions(const at::Tensor& logits, const at::Tensor& labels);

  at::Tensor loss_sum() const;  // cross entropy over all labels
  std::int64_t correct() const;
  // A sample's loss is the mean over its labels, so that samples count and not labels.
  double labels_per_sample() const { return labels_per_sample_; }

 private:
  at::Tensor logits_, labels_;  // [labels, classes] and [labels]
  double labels_per_sample_;
};

}  // namespace jabas
