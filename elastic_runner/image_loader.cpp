#include "elastic_runner/image_loader.h"

#include <ATen/ATen.h>

#include <array>

#include "allocator/error.h"
#include "elastic_runner/datasets.h"

namespace jabas {
namespace {

template <typename T>
void copy_pixels(const std::uint8_t* pixels, std::int64_t count,
                 const std::array<double, 256>& normalised, T* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(normalised[pixels[i]]);
}

class ImageLoader : public BatchLoader {
 public:
  ImageLoader(Dataset dataset, at::ScalarType type) : dataset_(std::move(dataset)), type_(type) {
    for (std::size_t value = 0; value < normalised_.size(); ++value)
      normalised_[value] = (static_cast<double>(value) / 255 - dataset_.mean) / dataset_.deviation;
  }
  DataShape shape() const override {
    DataShape shape;
    shape.kind = DataShape::Kind::kImages;
    shape.channels = 1;
    shape.rows = dataset_.rows;
    shape.columns = dataset_.columns;
    shape.classes = dataset_.classes;
    return shape;
  }
  std::int64_t train_samples() const override { return dataset_.train.count; }
  std::int64_t test_samples() const override { return dataset_.test.count; }
  Batch train(const std::vector<std::int64_t>& samples, RandomStream&) const override {
    return load(dataset_.train, samples);
  }
  Batch test(const std::vector<std::int64_t>& samples) const override {
    return load(dataset_.test, samples);
  }

 private:
  Batch load(const LabelledImages& images, const std::vector<std::int64_t>& samples) const {
    const auto count = static_cast<std::int64_t>(samples.size());
    const std::int64_t pixels = dataset_.rows * dataset_.columns;
    const at::Tensor values = at::empty({count, 1, dataset_.rows, dataset_.columns}, type_);
    Batch batch{{values}, at::empty({count}, at::kLong)};
    auto* labels = batch.labels.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t sample = samples[static_cast<std::size_t>(i)];
      JABAS_ASSERT(sample >= 0 && sample < images.count, "sample " + std::to_string(sample));
      const std::uint8_t* from = images.pixels.data() + sample * pixels;
      if (type_ == at::kDouble)
        copy_pixels(from, pixels, normalised_, values.data_ptr<double>() + i * pixels);
      else
        copy_pixels(from, pixels, normalised_, values.data_ptr<float>() + i * pixels);
      labels[i] = images.labels[static_cast<std::size_t>(sample)];
    }
    return batch;
  }

  const Dataset dataset_;
  const at::ScalarType type_;
  std::array<double, 256> normalised_;  // by pixel value
};

}  // namespace

std::unique_ptr<const BatchLoader> make_image_loader(const EngineOptions& options,
                                                     at::ScalarType type) {
  return std::make_unique<ImageLoader>(
      load_dataset(options.dataset, options.data_dir, options.subset), type);
}

}  // namespace jabas
