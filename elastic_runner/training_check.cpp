#include "elastic_runner/training_check.h"

#include <ATen/core/Tensor.h>

#include "elastic_runner/batch_loader.h"
#include "elastic_runner/model_file.h"
#include "elastic_runner/models.h"

namespace jabas {

std::int64_t check_training(const EngineOptions& options) {
  // Counting says what --skip-bad leaves out; a plug-in's data set is known to the loader alone.
  const bool plugin = is_plugin_file(options.dataset);
  const std::int64_t counted = plugin ? 0 : count_train_samples(options);
  const auto loader = make_batch_loader(options, at::kFloat);
  make_model(options, loader->shape(), at::kFloat);
  return plugin ? loader->train_samples() : counted;
}

}  // namespace jabas
