// Turns samples of a data set into the tensors of a batch: images scaled to [0, 1] and normalised
// with the data set's mean and deviation, or texts as numbers of bytes.
// Threads: const, safe to share.   Errors: those of the data sets.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "elastic_runner/iidp_engine.h"

namespace jabas {

struct Batch {
  at::Tensor inputs;  // [n, 1, rows, columns], or [n, length] of int64
  at::Tensor labels;  // [n], or [n, length]: int64
};

class BatchLoader {
 public:
  virtual ~BatchLoader() = default;
  virtual std::int64_t train_samples() const = 0;
  virtual std::int64_t test_samples() const = 0;
  virtual Batch train(const std::vector<std::int64_t>& samples) const = 0;
  virtual Batch test(const std::vector<std::int64_t>& samples) const = 0;
};

// Reads and checks the data set.
std::unique_ptr<const BatchLoader> make_batch_loader(const EngineOptions& options,
                                                     at::ScalarType type);

}  // namespace jabas
