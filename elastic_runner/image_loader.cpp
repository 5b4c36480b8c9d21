#include "elastic_runner/image_loader.h"

#include <ATen/ATen.h>

#include <array>

#include "elastic_runner/datasets.h"

namespace jabas {
namespace {

using Normalised = std::vector<std::array<double, 256>>;  // by channel and pixel value

Normalised normalised_values(const ImageSet& images) {
  Normalised values(static_cast<std::size_t>(images.channels));
  for (std::size_t channel = 0; channel < values.size(); ++channel)
    for (std::size_t value = 0; value < 256; ++value)
      values[channel][value] =
          (static_cast<double>(value) / 255 - images.mean[channel]) / images.deviation[channel];
  return values;
}

class ImageLoader : public BatchLoader {
 public:
  ImageLoader(const EngineOptions& options, at::ScalarType type)
      : bad_(options.reading.skip_bad),
        images_(open_images(options, bad_)),
        type_(type),
        normalised_(normalised_values(images_)) {}
  DataShape shape() const override {
    DataShape shape;
    shape.kind = DataShape::Kind::kImages;
    shape.channels = images_.channels;
    shape.rows = images_.rows;
    shape.columns = images_.columns;
    shape.classes = images_.classes;
    return shape;
  }
  std::int64_t train_samples() const override { return images_.train->count(); }
  std::int64_t test_samples() const override { return images_.test->count(); }
  Batch train(const std::vector<std::int64_t>& samples, RandomStream& augmentation) const override {
    return load(*images_.train, samples, augmentation, true);
  }
  Batch test(const std::vector<std::int64_t>& samples) const override {
    RandomStream unused({0});
    return load(*images_.test, samples, unused, false);
  }

 private:
  Batch load(const ImageSplit& split, const std::vector<std::int64_t>& samples,
             RandomStream& random, bool training) const {
    const std::int64_t count = std::ssize(samples), pixels = images_.pixels();
    const at::Tensor values =
        at::empty({count, images_.channels, images_.rows, images_.columns}, type_);
    Batch batch{{values}, at::empty({count}, at::kLong)};
    auto* labels = batch.labels.data_ptr<std::int64_t>();
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(pixels));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t sample = samples[static_cast<std::size_t>(i)];
      JABAS_ASSERT(sample >= 0 && sample < split.count(), "sample " + std::to_string(sample));
      bad_.read_or_next(sample, split.count(), random,
                        [&](std::int64_t image, RandomStream& draws) {
                          split.read(image, training ? &draws : nullptr, bytes.data());
                          labels[i] = split.label(image);
                        });
      if (type_ == at::kDouble)
        normalise(bytes, values.data_ptr<double>() + i * pixels);
      else
        normalise(bytes, values.data_ptr<float>() + i * pixels);
    }
    return batch;
  }

  template <typename T>
  void normalise(const std::vector<std::uint8_t>& bytes, T* out) const {
    const std::size_t plane = bytes.size() / normalised_.size();
    const std::uint8_t* from = bytes.data();
    for (const auto& values : normalised_)
      for (std::size_t i = 0; i < plane; ++i) *out++ = static_cast<T>(values[*from++]);
  }

  BadSamples bad_;
  const ImageSet images_;
  const at::ScalarType type_;
  const Normalised normalised_;
};

}  // namespace

std::unique_ptr<const BatchLoader> make_image_loader(const EngineOptions& options,
                                                     at::ScalarType type) {
  return std::make_unique<ImageLoader>(options, type);
}

}  // namespace jabas
