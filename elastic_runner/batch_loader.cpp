#include "elastic_runner/batch_loader.h"

#include <ATen/ATen.h>

#include "allocator/error.h"

namespace jabas {
namespace {

template <typename T>
void copy_pixels(const std::uint8_t* pixels, std::int64_t count,
                 const std::array<double, 256>& normalised, T* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(normalised[pixels[i]]);
}

}  // namespace

BatchLoader::BatchLoader(const Dataset& dataset, at::ScalarType type)
    : dataset_(dataset), type_(type) {
  for (std::size_t value = 0; value < normalised_.size(); ++value)
    normalised_[value] = (static_cast<double>(value) / 255 - dataset.mean) / dataset.deviation;
}

Batch BatchLoader::load(const LabelledImages& images,
                        const std::vector<std::int64_t>& samples) const {
  const auto count = static_cast<std::int64_t>(samples.size());
  const std::int64_t pixels = dataset_.rows * dataset_.columns;
  Batch batch{at::empty({count, 1, dataset_.rows, dataset_.columns}, type_),
              at::empty({count}, at::kLong)};
  auto* labels = batch.labels.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t sample = samples[static_cast<std::size_t>(i)];
    JABAS_ASSERT(sample >= 0 && sample < images.count, "sample " + std::to_string(sample));
    const std::uint8_t* from = images.pixels.data() + sample * pixels;
    if (type_ == at::kDouble)
      copy_pixels(from, pixels, normalised_, batch.images.data_ptr<double>() + i * pixels);
    else
      copy_pixels(from, pixels, normalised_, batch.images.data_ptr<float>() + i * pixels);
    labels[i] = images.labels[static_cast<std::size_t>(sample)];
  }
  return batch;
}

}  // namespace jabas
