#include "elastic_runner/training_check.h"

#include <ATen/core/Tensor.h>

#include "elastic_runner/batch_loader.h"
#include "elastic_runner/models.h"

namespace jabas {

std::int64_t check_training(const EngineOptions& options) {
  if (options.reading.skip_bad) count_train_samples(options);  // says what is left out
  const auto loader = make_batch_loader(options, at::kFloat);
  make_model(options, loader->shape(), at::kFloat);
  return loader->train_samples();
}

}  // namespace jabas
