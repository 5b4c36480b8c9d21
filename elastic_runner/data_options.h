// The options of `train` that name the data set and how it is read: declared, completed (readers),
// and checked on their own. Whether the model can read it: model_options.h.
// Errors: UsageError, one line.
#pragma once

#include <string>
#include <vector>

#include "allocator/training_spec.h"
#include "elastic_runner/data_shape.h"

namespace CLI {
class App;
}

namespace jabas {

// A data set's name, the kinds of samples that it can have, and whether its files have no default
// place.
struct DatasetFacts {
  std::string name;
  std::vector<DataShape::Kind> kinds;
  bool needs_folder = false;
};
// In the order in which they are listed to the user and tried as a model's default.
const std::vector<DatasetFacts>& datasets();

void declare_data_options(CLI::App& app, TrainingSpec& spec);
// After the parsing, once spec.dataset is known.
void check_data_options(const CLI::App& app, TrainingSpec& spec);

}  // namespace jabas
