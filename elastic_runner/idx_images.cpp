#include "elastic_runner/idx_images.h"

#include <algorithm>

#include "elastic_runner/idx_file.h"
#include "elastic_runner/sample_subset.h"

namespace jabas {
namespace {

constexpr const char* kFashionMnistDirectory = "/usr/share/datasets/fashion-mnist";
constexpr std::int64_t kSide = 28, kPixels = kSide * kSide, kClasses = 10;

class IdxImages : public ImageSplit {
 public:
  IdxImages(const std::string& prefix, BadSamples& bad) {
    IdxArray images = read_idx(prefix + "-images-idx3-ubyte", 3);
    const IdxArray labels = read_idx(prefix + "-labels-idx1-ubyte", 1);
    if (images.shape[1] != kSide || images.shape[2] != kSide)
      throw InputError(images.path + ": images of " + std::to_string(images.shape[1]) + "x" +
                       std::to_string(images.shape[2]) + " pixels, expected 28x28");
    if (images.shape[0] == 0) throw InputError(images.path + ": has no images");
    if (labels.shape[0] != images.shape[0])
      throw InputError(labels.path + ": " + std::to_string(labels.shape[0]) + " labels for " +
                       std::to_string(images.shape[0]) + " images");
    pixels_ = std::move(images.values);
    for (std::size_t i = 0; i < labels.values.size(); ++i) {
      if (labels.values[i] >= kClasses) {
        bad.add(labels.path + ": label " + std::to_string(labels.values[i]) + " of sample " +
                std::to_string(i) + ", accepted are 0.." + std::to_string(kClasses - 1));
        continue;
      }
      const auto from = pixels_.begin() + std::ptrdiff_t(i) * kPixels;
      if (labels_.size() < i) std::copy_n(from, kPixels, pixels_.begin() + count() * kPixels);
      labels_.push_back(labels.values[i]);
    }
    keep_first(count());
  }
  void keep_first(std::int64_t samples) {
    labels_.resize(static_cast<std::size_t>(samples));
    pixels_.resize(static_cast<std::size_t>(samples * kPixels));
    pixels_.shrink_to_fit();
  }

  std::int64_t count() const override { return std::ssize(labels_); }
  std::int64_t label(std::int64_t image) const override {
    return labels_[static_cast<std::size_t>(image)];
  }
  void read(std::int64_t image, RandomStream*, std::uint8_t* pixels) const override {
    std::copy_n(pixels_.begin() + image * kPixels, kPixels, pixels);
  }

 private:
  std::vector<std::uint8_t> pixels_, labels_;
};

}  // namespace

ImageSet open_idx_images(const EngineOptions& options, BadSamples& bad) {
  ImageSet set;
  set.rows = set.columns = kSide;
  set.classes = kClasses;
  const bool fashion = options.dataset == "fashion-mnist";
  set.mean = {fashion ? 0.2860 : 0.1307};
  set.deviation = {fashion ? 0.3530 : 0.3081};
  const std::string directory =
      options.data_dir.empty() ? kFashionMnistDirectory : options.data_dir;
  auto train = std::make_unique<IdxImages>(directory + "/train", bad);
  train->keep_first(subset_of(train->count(), options.subset));
  set.train = std::move(train);
  set.test = std::make_unique<IdxImages>(directory + "/t10k", bad);
  return set;
}

}  // namespace jabas
