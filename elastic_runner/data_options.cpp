#include "elastic_runner/data_options.h"

#include <CLI/CLI.hpp>

#include "elastic_runner/option_checks.h"

namespace jabas {

void declare_data_options(CLI::App& app, TrainingSpec& spec) {
  app.add_option("--dataset", spec.dataset,
                 "fashion-mnist, or text: the bytes of all files of --data-dir (default: what the "
                 "model reads)");
  app.add_option("--data-dir", spec.data_dir,
                 "Folder of the data set's files (default: Debian's fashion-mnist or licences)");
  app.add_option("--subset", spec.subset, "Train on the first N samples only (0 = all)")
      ->capture_default_str();
  app.add_option("--sequence-length", spec.sequence_length, "text: bytes of a sample")
      ->capture_default_str();
}

void check_data_options(const CLI::App& app, const TrainingSpec& spec) {
  require_one_of("--dataset", spec.dataset, {"fashion-mnist", "text"});
  require(spec.dataset == "text" || app.count("--sequence-length") == 0,
          "--sequence-length: only with --dataset=text");
  require_range("--sequence-length", double(spec.sequence_length), 1, 65536,
                "a whole number in 1..65536");
  require_range("--subset", double(spec.subset), 0, 1e15, "a whole number ≥ 0 (0 = all samples)");
}

}  // namespace jabas
