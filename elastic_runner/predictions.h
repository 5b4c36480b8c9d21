// What a model's output says about the labels of a batch: loss and hits.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "elastic_runner/loss.h"

namespace jabas {

class Predictions {
 public:
  // Cross entropy: logits [n, …, classes] or, as torch::nn has it, [n, classes, …] for labels
  // [n, …]. Mean square and binary: as many numbers as labels. Own: one number.
  // Throws InputError where the shapes do not fit.
  Predictions(const at::Tensor& output, const at::Tensor& labels, Loss loss);

  at::Tensor loss_sum() const;  // over all labels; own: mean times samples
  // Labels that are predicted; -1 for a loss without classes.
  std::int64_t correct() const;
  std::int64_t labels() const { return count_; }
  bool has_top5() const;  // more than 5 classes
  std::int64_t correct_top5() const;
  // A sample's loss is the mean over its labels, so that samples count and not labels.
  double labels_per_sample() const;

 private:
  const Loss loss_;
  at::Tensor output_, labels_;  // cross entropy: [labels, classes] and [labels]
  std::int64_t samples_, count_;
};

}  // namespace jabas
