#include "elastic_runner/model_options.h"

#include <CLI/CLI.hpp>

#include "elastic_runner/data_options.h"
#include "elastic_runner/option_checks.h"

namespace jabas {

void declare_model_options(CLI::App& app, TrainingSpec& spec) {
  app.add_option("--model", spec.model, "cnn, mlp or gpt")->capture_default_str();
  app.add_option("--layers", spec.layers, "gpt: layers")->capture_default_str();
  app.add_option("--width", spec.width, "gpt: numbers per position")->capture_default_str();
  app.add_option("--heads", spec.heads, "gpt: attention heads")->capture_default_str();
  app.add_option("--dropout", spec.dropout, "gpt: dropout")->capture_default_str();
}

void resolve_model(const CLI::App& app, TrainingSpec& spec) {
  require_one_of("--model", spec.model, {"cnn", "mlp", "gpt"});
  const bool gpt = spec.model == "gpt";
  const std::string reads = gpt ? "text" : "fashion-mnist";
  if (app.count("--dataset") == 0) spec.dataset = reads;
  check_data_options(app, spec);
  require(spec.dataset == reads,
          "--dataset=" + spec.dataset + ": model " + spec.model + " reads " + reads);
  for (const char* name : {"--layers", "--width", "--heads", "--dropout"})
    require(gpt || app.count(name) == 0, std::string(name) + ": only with --model=gpt");
  require_range("--layers", spec.layers, 1, 1000, "a whole number in 1..1000");
  require_range("--heads", spec.heads, 1, 1000, "a whole number in 1..1000");
  require_range("--width", spec.width, 1, 65536, "a whole number in 1..65536");
  require_range("--dropout", spec.dropout, 0, 0.9, "a number in 0..0.9");
  require(spec.width % spec.heads == 0,
          "--width=" + std::to_string(spec.width) +
              ": accepted is a multiple of --heads=" + std::to_string(spec.heads));
}

}  // namespace jabas
