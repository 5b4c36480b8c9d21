// Lets LibTorch's own random operators (dropout in TorchScript files, rand, randn) draw from a
// stream of the pass that runs on this thread, where they would share one generator among all
// threads.
//
// How: their CPU kernels are replaced by ones that take the thread's generator where the caller
// gave none. Threads: a PassRandom counts for the thread it lives on, one at a time.
#pragma once

#include <memory>

#include "elastic_runner/random_stream.h"

namespace jabas {

class PassRandom {
 public:
  explicit PassRandom(RandomStream& stream);  // takes one number from the stream, as the seed
  ~PassRandom();
  PassRandom(const PassRandom&) = delete;
  PassRandom& operator=(const PassRandom&) = delete;
};

}  // namespace jabas
