#include "elastic_runner/batch_loader.h"

#include "elastic_runner/image_loader.h"
#include "elastic_runner/model_file.h"
#include "elastic_runner/npy_loader.h"
#include "elastic_runner/plugin_file.h"
#include "elastic_runner/synthetic_loader.h"
#include "elastic_runner/text_loader.h"

namespace jabas {

std::unique_ptr<const BatchLoader> make_batch_loader(const EngineOptions& options,
                                                     at::ScalarType type) {
  if (is_plugin_file(options.dataset)) return make_plugin_loader(options, type);
  if (options.dataset == "text") return make_text_loader(options);
  if (options.dataset == "tokens") return make_token_loader(options);
  if (options.dataset == "npy") return make_npy_loader(options, type);
  if (options.dataset == "synthetic") return make_synthetic_loader(options, type);
  return make_image_loader(options, type);
}

}  // namespace jabas
