// A data set of images with a class each, as 8-bit pixels. No torch.
//
// Pixels: channels × rows × columns bytes, the same for every image of a set.
// Threads: const, safe to share.   Errors: InputError names the file and the reason.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "elastic_runner/random_stream.h"

namespace jabas {

class ImageSplit {
 public:
  virtual ~ImageSplit() = default;
  virtual std::int64_t count() const = 0;
  virtual std::int64_t label(std::int64_t image) const = 0;
  // With `augmentation` a randomly changed image, drawn from it alone; without, as in evaluation.
  virtual void read(std::int64_t image, RandomStream* augmentation, std::uint8_t* pixels) const = 0;
};

struct ImageSet {
  std::int64_t channels = 1, rows = 0, columns = 0, classes = 0;
  std::vector<double> mean, deviation;  // by channel, of the pixels scaled to [0, 1]
  std::unique_ptr<const ImageSplit> train, test;

  std::int64_t pixels() const { return channels * rows * columns; }
};

}  // namespace jabas
