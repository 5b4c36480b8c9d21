// Turns samples of a data set into the tensors of a batch. One class per kind of data set.
// Threads: const, safe to share.   Errors: those of the data sets.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "elastic_runner/data_shape.h"
#include "elastic_runner/random_stream.h"

namespace jabas {

// Shapes: data_shape.h. Tokens, rows of tables and classes are int64, numbers have the precision of
// the training.
struct Batch {
  std::vector<at::Tensor> inputs;
  at::Tensor labels;
};

class BatchLoader {
 public:
  virtual ~BatchLoader() = default;
  virtual DataShape shape() const = 0;
  virtual std::int64_t train_samples() const = 0;
  virtual std::int64_t test_samples() const = 0;
  // `augmentation`: the draws of the virtual worker that reads.
  virtual Batch train(const std::vector<std::int64_t>& samples,
                      RandomStream& augmentation) const = 0;
  virtual Batch test(const std::vector<std::int64_t>& samples) const = 0;
};

}  // namespace jabas
