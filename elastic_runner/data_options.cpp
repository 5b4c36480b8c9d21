#include "elastic_runner/data_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "allocator/error.h"
#include "elastic_runner/model_file.h"
#include "elastic_runner/option_checks.h"
#include "elastic_runner/synthetic_options.h"

namespace jabas {
namespace {

using Names = std::vector<std::string>;

// An option that only some data sets have.
struct OwnOption {
  const char* name;
  Names datasets;
};
const OwnOption kOwnOptions[] = {
    {"--sequence-length", {"text", "tokens"}},
    {"--token-type", {"tokens"}},
    {"--vocabulary", {"tokens", "synthetic"}},
    {"--image-size", {"images"}},
    {"--augment", {"cifar10", "cifar100", "images"}},
    {"--skip-bad", {"fashion-mnist", "mnist", "cifar10", "cifar100", "images", "tokens", "npy"}},
};

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

const std::vector<DatasetFacts>& datasets() {
  using Kind = DataShape::Kind;
  static const std::vector<DatasetFacts> datasets = {
      {"fashion-mnist", {Kind::kImages}, false},
      {"mnist", {Kind::kImages}, true},
      {"cifar10", {Kind::kImages}, true},
      {"cifar100", {Kind::kImages}, true},
      {"images", {Kind::kImages}, true},
      {"text", {Kind::kTokens}, false},
      {"tokens", {Kind::kTokens}, true},
      {"npy", {Kind::kImages, Kind::kMasks, Kind::kArrays}, true},
      {"synthetic", all_kinds(), false},
  };
  return datasets;
}

void declare_data_options(CLI::App& app, TrainingSpec& spec) {
  app.add_option("--plugin-options", spec.plugin_options, "Handed to a plug-in as it is");
  app.add_option("--dataset", spec.dataset,
                 "fashion-mnist, mnist, cifar10, cifar100, images (folders of JPEG and PNG files), "
                 "text (the bytes of all files), tokens, npy, synthetic or a plug-in (.so) "
                 "(default: what the model reads)");
  app.add_option("--data-dir", spec.data_dir,
                 "Folder of the data set's files (default: Debian's fashion-mnist or licences)");
  app.add_option("--subset", spec.subset, "Train on the first N samples only (0 = all)")
      ->capture_default_str();
  app.add_option("--sequence-length", spec.sequence_length,
                 "text, tokens: bytes or tokens of a sample")
      ->capture_default_str();
  app.add_option("--token-type", spec.token_type, "tokens: uint16 or uint32")
      ->capture_default_str();
  app.add_option("--vocabulary", spec.vocabulary,
                 "tokens, synthetic tokens and pairs: how many there are");
  app.add_option("--image-size", spec.image_size, "images: pixels of a side")
      ->capture_default_str();
  app.add_flag("--augment", spec.augment,
               "cifar10, cifar100, images: shift or cut out and mirror training images at random");
  app.add_flag("--skip-bad", spec.skip_bad,
               "Leave out and count samples that cannot be read (default: an error)");
  app.add_option("--readers", spec.readers,
                 "Threads of each worker that read ahead; 0: none (default: 1 for images, else 0)");
  declare_synthetic_options(app, spec);
}

void check_data_options(const CLI::App& app, TrainingSpec& spec) {
  Names names;
  for (const DatasetFacts& dataset : datasets()) names.push_back(dataset.name);
  if (!is_plugin_file(spec.dataset) && !contains(names, spec.dataset))
    throw UsageError("--dataset=" + spec.dataset + ": accepted are " + enumerated(names) +
                     ", or a plug-in (.so)");
  for (const auto& [name, having] : kOwnOptions)
    require(app.count(name) == 0 || contains(having, spec.dataset),
            std::string(name) + ": only with --dataset=" + enumerated(having));
  for (const DatasetFacts& dataset : datasets())
    require(dataset.name != spec.dataset || !dataset.needs_folder || !spec.data_dir.empty(),
            "--dataset=" + spec.dataset + ": needs --data-dir");
  require_one_of("--token-type", spec.token_type, {"uint16", "uint32"});
  require(spec.dataset != "tokens" || app.count("--vocabulary") > 0,
          "--dataset=tokens: needs --vocabulary");
  if (spec.dataset == "tokens")
    require_range("--vocabulary", double(spec.vocabulary), 2, 4294967296.0,
                  "a whole number in 2..4294967296");
  if (spec.dataset == "synthetic" && app.count("--vocabulary") == 0) spec.vocabulary = 64;
  check_synthetic_options(app, spec);
  require_range("--sequence-length", double(spec.sequence_length), 1, 65536,
                "a whole number in 1..65536");
  require_range("--image-size", spec.image_size, 8, 4096, "a whole number in 8..4096");
  require_range("--subset", double(spec.subset), 0, 1e15, "a whole number ≥ 0 (0 = all samples)");
  if (app.count("--readers") == 0) spec.readers = spec.dataset == "images" ? 1 : 0;
  require_range("--readers", spec.readers, 0, 64, "a whole number in 0..64");
}

}  // namespace jabas
