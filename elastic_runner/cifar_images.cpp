#include "elastic_runner/cifar_images.h"

#include <algorithm>

#include "elastic_runner/augmentation.h"
#include "elastic_runner/mapped_file.h"
#include "elastic_runner/sample_subset.h"

namespace jabas {
namespace {

constexpr std::int64_t kSide = 32, kChannels = 3, kPixels = kChannels * kSide * kSide;

struct Form {
  std::int64_t label_bytes, classes;  // the last label counts
  std::vector<std::string> train, test;
  std::vector<double> mean, deviation;
  std::int64_t record() const { return label_bytes + kPixels; }
};

Form form_of(const std::string& dataset) {
  if (dataset == "cifar100")
    return {
        2, 100, {"train.bin"}, {"test.bin"}, {0.5071, 0.4865, 0.4409}, {0.2673, 0.2564, 0.2762}};
  return {1,
          10,
          {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
           "data_batch_5.bin"},
          {"test_batch.bin"},
          {0.4914, 0.4822, 0.4465},
          {0.2470, 0.2435, 0.2616}};
}

class CifarImages : public ImageSplit {
 public:
  CifarImages(const std::string& directory, const std::vector<std::string>& names, const Form& form,
              bool augment, BadSamples& bad)
      : augment_(augment), label_bytes_(form.label_bytes) {
    for (const auto& name : names) add_file(MappedFile(directory + "/" + name), form, bad);
    if (records_.empty()) throw InputError(files_.back().path() + ": has no usable images");
  }
  void keep_first(std::int64_t samples) { records_.resize(static_cast<std::size_t>(samples)); }

  std::int64_t count() const override { return std::ssize(records_); }
  std::int64_t label(std::int64_t image) const override {
    return records_[static_cast<std::size_t>(image)][label_bytes_ - 1];
  }
  void read(std::int64_t image, RandomStream* augmentation, std::uint8_t* pixels) const override {
    const std::uint8_t* from = records_[static_cast<std::size_t>(image)] + label_bytes_;
    if (augment_ && augmentation != nullptr)
      shift_and_flip(from, kChannels, kSide, kSide, *augmentation, pixels);
    else
      std::copy_n(from, kPixels, pixels);
  }

 private:
  void add_file(MappedFile file, const Form& form, BadSamples& bad) {
    const std::int64_t size = static_cast<std::int64_t>(file.size()), record = form.record();
    if (size == 0) throw InputError(file.path() + ": has no images");
    if (size % record != 0)
      bad.add(file.path() + ": truncated, or no " + (form.classes == 10 ? "cifar10" : "cifar100") +
              " file: " + std::to_string(size) + " bytes are not a multiple of " +
              std::to_string(record));
    for (std::int64_t i = 0; i < size / record; ++i) {
      const std::uint8_t* begin = file.data() + i * record;
      const int found = begin[form.label_bytes - 1];
      if (found < form.classes)
        records_.push_back(begin);
      else
        bad.add(file.path() + ": label " + std::to_string(found) + " of image " +
                std::to_string(i) + ", accepted are 0.." + std::to_string(form.classes - 1));
    }
    files_.push_back(std::move(file));
  }

  const bool augment_;
  const std::int64_t label_bytes_;
  std::vector<MappedFile> files_;
  std::vector<const std::uint8_t*> records_;  // into files_
};

}  // namespace

ImageSet open_cifar_images(const EngineOptions& options, BadSamples& bad) {
  const Form form = form_of(options.dataset);
  ImageSet set;
  set.channels = kChannels;
  set.rows = set.columns = kSide;
  set.classes = form.classes;
  set.mean = form.mean;
  set.deviation = form.deviation;
  auto train = std::make_unique<CifarImages>(options.data_dir, form.train, form,
                                             options.reading.augment, bad);
  train->keep_first(subset_of(train->count(), options.subset));
  set.train = std::move(train);
  set.test = std::make_unique<CifarImages>(options.data_dir, form.test, form, false, bad);
  return set;
}

}  // namespace jabas
