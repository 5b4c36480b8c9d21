// The built-in models: what each reads, which sizes it has and their defaults.
// Pure, without torch.   Errors: UsageError for an unknown name.
#pragma once

#include <string>
#include <vector>

#include "elastic_runner/data_shape.h"
#include "elastic_runner/iidp_engine.h"

namespace jabas {

struct ModelFacts {
  std::string name;
  std::vector<DataShape::Kind> reads;
  bool batch_norm = false;
  // The default of each size the model has; one it lacks is 0 (dropout: negative).
  ModelSize size;

  bool can_read(DataShape::Kind kind) const;
};

// In the order in which they are listed to the user.
const std::vector<ModelFacts>& built_in_models();
std::vector<std::string> built_in_model_names();
// Null where the name is not that of a built-in model.
const ModelFacts* find_built_in_model(const std::string& name);

// `given` with the model's own value for every size that is not given.
ModelSize with_defaults(const ModelFacts& model, ModelSize given);

// The sizes that decide the shapes of the model's parameters, as in "4 layers, width 128, 4 heads";
// empty for a model without sizes.
std::string size_text(const ModelFacts& model, const ModelSize& size);

// "images with classes or arrays": what the model reads, for error lines.
std::string reads_text(const ModelFacts& model);

}  // namespace jabas
