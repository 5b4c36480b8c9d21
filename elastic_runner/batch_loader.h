// Turns samples of a data set into input tensors: scaled to [0, 1], normalised with the data set's
// mean and deviation. Threads: const, safe to share.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

#include "elastic_runner/datasets.h"

namespace jabas {

struct Batch {
  at::Tensor images;  // [n, 1, rows, columns]
  at::Tensor labels;  // [n], int64
};

class BatchLoader {
 public:
  // `dataset` must outlive the loader.
  BatchLoader(const Dataset& dataset, at::ScalarType type);
  // `images` is dataset.train or dataset.test.
  Batch load(const LabelledImages& images, const std::vector<std::int64_t>& samples) const;

 private:
  const Dataset& dataset_;
  const at::ScalarType type_;
  std::array<double, 256> normalised_;  // by pixel value
};

}  // namespace jabas
