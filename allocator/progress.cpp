#include "allocator/progress.h"

namespace jabas {

double gain(double batch, const GradientNoise& noise) {
  if (!noise.known()) return batch / noise.base_batch;
  return (noise.var + noise.sqr) / (noise.var * noise.base_batch / batch + noise.sqr);
}

double efficiency(double batch, const GradientNoise& noise) {
  return gain(batch, noise) * noise.base_batch / batch;
}

}  // namespace jabas
