#include "elastic_runner/datasets.h"

#include "elastic_runner/cifar_images.h"
#include "elastic_runner/idx_images.h"
#include "elastic_runner/image_folder.h"
#include "elastic_runner/npy_arrays.h"
#include "elastic_runner/synthetic_data.h"
#include "elastic_runner/text_corpus.h"
#include "elastic_runner/token_files.h"

namespace jabas {
namespace {

std::int64_t count_with(const EngineOptions& options, BadSamples& bad) {
  if (options.dataset == "synthetic") {
    synthetic_shape(options);  // refuses what cannot be generated
    return synthetic_train_samples(options);
  }
  if (options.dataset == "text")
    return TextCorpus(options.data_dir, options.sequence_length, options.subset).train_samples();
  if (options.dataset == "tokens") return TokenFiles(options, bad).train_samples();
  if (options.dataset == "npy") return std::ssize(NpyArrays(options, bad).train().rows);
  return open_images(options, bad).train->count();
}

}  // namespace

ImageSet open_images(const EngineOptions& options, BadSamples& bad) {
  const std::string& name = options.dataset;
  if (name == "mnist" || name == "fashion-mnist") return open_idx_images(options, bad);
  if (name == "cifar10" || name == "cifar100") return open_cifar_images(options, bad);
  if (name == "images") return open_image_folder(options, bad);
  throw UsageError("--dataset=" + name + ": no such data set");
}

std::int64_t count_train_samples(const EngineOptions& options) {
  BadSamples bad(options.reading.skip_bad);
  const std::int64_t samples = count_with(options, bad);
  if (bad.count() > 0 && options.on_skipped) options.on_skipped(bad.count(), bad.first());
  return samples;
}

}  // namespace jabas
