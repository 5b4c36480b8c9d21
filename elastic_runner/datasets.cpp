#include "elastic_runner/datasets.h"

#include "allocator/error.h"
#include "elastic_runner/idx_file.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/synthetic_data.h"
#include "elastic_runner/text_corpus.h"

namespace jabas {
namespace {

constexpr const char* kFashionMnistDirectory = "/usr/share/datasets/fashion-mnist";

LabelledImages load_images(const std::string& prefix, const Dataset& dataset) {
  IdxArray images = read_idx(prefix + "-images-idx3-ubyte", 3);
  IdxArray labels = read_idx(prefix + "-labels-idx1-ubyte", 1);
  if (images.shape[1] != dataset.rows || images.shape[2] != dataset.columns)
    throw InputError(images.path + ": images of " + std::to_string(images.shape[1]) + "x" +
                     std::to_string(images.shape[2]) + " pixels, expected " +
                     std::to_string(dataset.rows) + "x" + std::to_string(dataset.columns));
  if (images.shape[0] == 0) throw InputError(images.path + ": has no images");
  if (labels.shape[0] != images.shape[0])
    throw InputError(labels.path + ": " + std::to_string(labels.shape[0]) + " labels for " +
                     std::to_string(images.shape[0]) + " images");
  for (std::size_t i = 0; i < labels.values.size(); ++i)
    if (labels.values[i] >= dataset.classes)
      throw InputError(labels.path + ": label " + std::to_string(labels.values[i]) + " of sample " +
                       std::to_string(i) + ", accepted are 0.." +
                       std::to_string(dataset.classes - 1));
  return {images.shape[0], std::move(images.values), std::move(labels.values)};
}

void keep_first(LabelledImages& images, std::int64_t subset, std::int64_t pixels) {
  if (subset < 0 || subset > images.count)
    throw UsageError("--subset=" + std::to_string(subset) + ": the training set has " +
                     std::to_string(images.count) + " samples");
  if (subset == 0) return;
  images.count = subset;
  images.pixels.resize(static_cast<std::size_t>(subset * pixels));
  images.labels.resize(static_cast<std::size_t>(subset));
  images.pixels.shrink_to_fit();
}

}  // namespace

Dataset load_dataset(const std::string& name, const std::string& data_dir, std::int64_t subset) {
  if (name != "fashion-mnist")
    throw UsageError("--dataset=" + name + ": accepted are fashion-mnist, text and synthetic");
  Dataset dataset;
  dataset.rows = dataset.columns = 28;
  dataset.classes = 10;
  dataset.mean = 0.2860;
  dataset.deviation = 0.3530;
  const std::string directory = data_dir.empty() ? kFashionMnistDirectory : data_dir;
  dataset.train = load_images(directory + "/train", dataset);
  dataset.test = load_images(directory + "/t10k", dataset);
  keep_first(dataset.train, subset, dataset.rows * dataset.columns);
  return dataset;
}

std::int64_t count_train_samples(const EngineOptions& options) {
  if (options.dataset == "synthetic") return synthetic_train_samples(options);
  if (options.dataset == "text")
    return TextCorpus(options.data_dir, options.sequence_length, options.subset).train_samples();
  return load_dataset(options.dataset, options.data_dir, options.subset).train.count;
}

}  // namespace jabas
