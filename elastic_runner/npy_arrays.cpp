#include "elastic_runner/npy_arrays.h"

#include <algorithm>

#include "elastic_runner/sample_subset.h"

namespace jabas {
namespace {

constexpr std::int64_t kMostClasses = 1'000'000;

std::vector<std::int64_t> sample_shape(const NpyFile& file) {
  return {file.shape().begin() + 1, file.shape().end()};
}

void require_same_samples(const NpyFile& train, const NpyFile& test) {
  if (sample_shape(train) != sample_shape(test) || train.whole_numbers() != test.whole_numbers())
    throw InputError(test.path() + ": samples of another shape or kind of number, " +
                     test.shape_text() + " in all, than " + train.path() + ", " +
                     train.shape_text());
}

}  // namespace

NpyArrays::NpyArrays(const EngineOptions& options, BadSamples& bad)
    : train_(open(options.data_dir + "/train", bad)), test_(open(options.data_dir + "/test", bad)) {
  require_same_samples(train_.inputs, test_.inputs);
  require_same_samples(train_.labels, test_.labels);
  train_.rows.resize(static_cast<std::size_t>(subset_of(std::ssize(train_.rows), options.subset)));
}

NpyArrays::Split NpyArrays::open(const std::string& prefix, BadSamples& bad) {
  Split split{NpyFile(prefix + "_inputs.npy"), NpyFile(prefix + "_labels.npy"), {}};
  const NpyFile &inputs = split.inputs, &labels = split.labels;
  if (inputs.shape().size() < 2 || inputs.rows() == 0 || inputs.numbers_per_row() == 0)
    throw InputError(inputs.path() + ": shape " + inputs.shape_text() +
                     "; accepted are samples × numbers, with more dimensions if need be");
  if (labels.shape().empty() || labels.rows() != inputs.rows())
    throw InputError(labels.path() + ": shape " + labels.shape_text() + " for " +
                     std::to_string(inputs.rows()) + " samples");
  if (labels.numbers_per_row() == 0)
    throw InputError(labels.path() + ": shape " + labels.shape_text() + " has no labels");
  std::vector<std::int64_t> classes(static_cast<std::size_t>(labels.numbers_per_row()));
  for (std::int64_t row = 0; row < labels.rows(); ++row) {
    if (labels.whole_numbers()) {
      labels.read_row(row, classes.data());
      const auto [least, most] = std::minmax_element(classes.begin(), classes.end());
      if (*least < 0 || *most >= kMostClasses) {
        bad.add(labels.path() + ": class " + std::to_string(*least < 0 ? *least : *most) +
                " of sample " + std::to_string(row) + ", accepted are 0.." +
                std::to_string(kMostClasses - 1) + " (numbers instead: as float32)");
        continue;
      }
      classes_ = std::max(classes_, *most + 1);
    }
    split.rows.push_back(row);
  }
  if (split.rows.empty()) throw InputError(labels.path() + ": has no usable samples");
  return split;
}

DataShape NpyArrays::shape() const {
  DataShape shape;
  shape.classes = classes_;
  const auto inputs = sample_shape(train_.inputs), labels = sample_shape(train_.labels);
  const bool pixels = inputs.size() == 3 && classes_ > 0;
  const bool per_pixel =
      pixels && labels == std::vector<std::int64_t>(inputs.begin() + 1, inputs.end());
  if (pixels && (labels.empty() || per_pixel)) {
    shape.kind = per_pixel ? DataShape::Kind::kMasks : DataShape::Kind::kImages;
    shape.channels = inputs[0];
    shape.rows = inputs[1];
    shape.columns = inputs[2];
    return shape;
  }
  if (classes_ > 0 && !labels.empty())
    throw InputError(train_.labels.path() + ": shape " + train_.labels.shape_text() +
                     " for inputs of shape " + train_.inputs.shape_text() +
                     "; classes are one for each sample, or for each pixel of images (samples × "
                     "channels × rows × columns)");
  shape.kind = DataShape::Kind::kArrays;
  shape.sample = inputs;
  shape.target = labels;
  return shape;
}

}  // namespace jabas
