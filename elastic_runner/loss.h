// What a model's output is held against: the losses a training can minimise.
//
// The loss of one sample is the mean over its labels (pixels, positions, numbers), so that samples
// count and not labels.
#pragma once

namespace jabas {

enum class Loss {
  kCrossEntropy,  // logits against classes
  kMeanSquare,    // numbers against numbers
  kBinary,        // logits against 0 and 1
  kOwn,           // the model's output is the batch's mean loss
};

}  // namespace jabas
