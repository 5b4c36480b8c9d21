#include "elastic_runner/synthetic_options.h"

#include <CLI/CLI.hpp>

#include "elastic_runner/data_shape.h"
#include "elastic_runner/option_checks.h"

namespace jabas {

void declare_synthetic_options(CLI::App& app, TrainingSpec& spec) {
  app.add_option("--synthetic-kind", spec.synthetic_kind,
                 "synthetic: images, masks, tokens, pairs, clicks or arrays (default: what the "
                 "model reads)");
  app.add_option("--synthetic-shape", spec.synthetic_shape,
                 "synthetic: sizes of a sample, such as 3,32,32 (default: a small one)")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--synthetic-samples", spec.synthetic_samples, "synthetic: training samples")
      ->capture_default_str();
  app.add_option("--synthetic-test-samples", spec.synthetic_test_samples, "synthetic: test samples")
      ->capture_default_str();
  app.add_option("--synthetic-classes", spec.synthetic_classes,
                 "synthetic images, masks, arrays: classes; 0 with arrays: numbers")
      ->capture_default_str();
}

void check_synthetic_options(const CLI::App& app, const TrainingSpec& spec) {
  for (const char* name : {"--synthetic-kind", "--synthetic-shape", "--synthetic-samples",
                           "--synthetic-test-samples", "--synthetic-classes"})
    require(app.count(name) == 0 || spec.dataset == "synthetic",
            std::string(name) + ": only with --dataset=synthetic");
  std::vector<std::string> kinds;
  for (const auto kind : all_kinds()) kinds.push_back(kind_name(kind));
  if (!spec.synthetic_kind.empty()) require_one_of("--synthetic-kind", spec.synthetic_kind, kinds);
}

}  // namespace jabas
