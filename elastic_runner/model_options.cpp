#include "elastic_runner/model_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "allocator/error.h"
#include "elastic_runner/data_options.h"
#include "elastic_runner/engine_options.h"
#include "elastic_runner/model_catalogue.h"
#include "elastic_runner/model_file.h"
#include "elastic_runner/option_checks.h"

namespace jabas {
namespace {

// The first that the model reads and that needs no folder; there is one for every kind.
const DatasetFacts& default_dataset(const ModelFacts& model) {
  const auto fits = [&](const DatasetFacts& dataset) {
    return !dataset.needs_folder &&
           std::any_of(dataset.kinds.begin(), dataset.kinds.end(),
                       [&](DataShape::Kind kind) { return model.can_read(kind); });
  };
  return *std::find_if(datasets().begin(), datasets().end(), fits);
}

// A plug-in says what it has when it is loaded.
void check_dataset(const ModelFacts& model, const std::string& name) {
  for (const DatasetFacts& dataset : datasets()) {
    if (dataset.name != name) continue;
    std::string kinds;
    for (const auto kind : dataset.kinds) {
      if (model.can_read(kind)) return;
      kinds += (kinds.empty() ? "" : " or ") + kind_name(kind);
    }
    require(false, "--dataset=" + name + ": has " + kinds + ", but model " + model.name +
                       " reads " + reads_text(model));
  }
}

// An option is refused with a model that has no such size.
template <typename Has>
void check_has(const CLI::App& app, const char* option, const ModelFacts& model, const Has& has) {
  if (app.count(option) == 0 || has(model.size)) return;
  std::vector<std::string> names;
  for (const ModelFacts& other : built_in_models())
    if (has(other.size)) names.push_back(other.name);
  require(false, std::string(option) + ": only with --model=" + enumerated(names));
}

void check_sizes(const CLI::App& app, const TrainingSpec& spec, const ModelFacts& model) {
  const auto whole = [&](const char* option, int ModelSize::*size, int most) {
    check_has(app, option, model, [&](const ModelSize& sizes) { return sizes.*size > 0; });
    if (model.size.*size > 0)
      require_range(option, model_size(spec).*size, 1, most,
                    "a whole number in 1.." + std::to_string(most));
  };
  whole("--layers", &ModelSize::layers, 1000);
  whole("--width", &ModelSize::width, 65536);
  whole("--heads", &ModelSize::heads, 1000);
  whole("--patch-size", &ModelSize::patch_size, 1000);
  check_has(app, "--dropout", model, [](const ModelSize& sizes) { return sizes.dropout >= 0; });
  if (model.size.dropout >= 0)
    require_range("--dropout", spec.dropout, 0, 0.9, "a number in 0..0.9");
  if (model.size.heads > 0)
    require(spec.width % spec.heads == 0,
            "--width=" + std::to_string(spec.width) +
                ": accepted is a multiple of --heads=" + std::to_string(spec.heads));
}

// A TorchScript file or a plug-in: whether it can read the data set is seen when it is built.
void resolve_model_file(const CLI::App& app, TrainingSpec& spec) {
  for (const char* option : {"--layers", "--width", "--heads", "--dropout", "--patch-size"})
    require(app.count(option) == 0, std::string(option) + ": not with a file as --model");
  require(app.count("--dataset") > 0, "--model=" + spec.model + ": needs --dataset");
  require(spec.dataset != "synthetic" || app.count("--synthetic-kind") > 0,
          "--model=" + spec.model + ": --dataset=synthetic needs --synthetic-kind");
  check_data_options(app, spec);
}

}  // namespace

void declare_model_options(CLI::App& app, TrainingSpec& spec) {
  app.add_option(
         "--model", spec.model,
         enumerated(built_in_model_names()) + "; or a TorchScript file (.pt) or plug-in (.so)")
      ->capture_default_str();
  app.add_option("--loss", spec.loss,
                 "TorchScript: cross_entropy, mse, bce or own (default: what suits the data)");
  app.add_option("--layers", spec.layers, "Layers of the model (unet: levels; its own default)");
  app.add_option("--width", spec.width,
                 "Numbers per position of the model, or channels of its first stage");
  app.add_option("--heads", spec.heads, "Attention heads of the model");
  app.add_option("--dropout", spec.dropout, "Dropout of the model");
  app.add_option("--patch-size", spec.patch_size, "vit: pixels of a patch's side");
}

void resolve_model(const CLI::App& app, TrainingSpec& spec) {
  if (is_torchscript_file(spec.model) && !spec.loss.empty())
    require_one_of("--loss", spec.loss, {"cross_entropy", "mse", "bce", "own"});
  else
    require(spec.loss.empty(), "--loss: only with a TorchScript file as --model");
  require(app.count("--plugin-options") == 0 || is_plugin_file(spec.model) ||
              is_plugin_file(spec.dataset),
          "--plugin-options: only with a plug-in (.so) as --model or --dataset");
  if (is_torchscript_file(spec.model) || is_plugin_file(spec.model))
    return resolve_model_file(app, spec);
  if (!find_built_in_model(spec.model))
    throw UsageError("--model=" + spec.model + ": accepted are " +
                     enumerated(built_in_model_names()) +
                     ", a TorchScript file (.pt) and a plug-in (.so)");
  const ModelFacts& model = *find_built_in_model(spec.model);
  if (app.count("--dataset") == 0) spec.dataset = default_dataset(model).name;
  check_data_options(app, spec);
  check_dataset(model, spec.dataset);
  const auto given = [&](const char* option) { return app.count(option) > 0; };
  if (!given("--layers")) spec.layers = model.size.layers;
  if (!given("--width")) spec.width = model.size.width;
  if (!given("--heads")) spec.heads = model.size.heads;
  if (!given("--dropout")) spec.dropout = model.size.dropout;
  if (!given("--patch-size")) spec.patch_size = model.size.patch_size;
  check_sizes(app, spec, model);
}

}  // namespace jabas
