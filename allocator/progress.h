// What a step at some global batch is worth (shared design "model" 3; Pollux, OSDI 2021). Pure.
#pragma once

namespace jabas {

struct GradientNoise {
  double sqr = 0;         // |G|²
  double var = 0;         // tr Σ / base_batch: the variance of a gradient at the base batch
  double base_batch = 1;  // B_0
  bool known() const { return sqr > 0 && var > 0; }
};

// Progress of one step at batch B, in steps at B_0: (var + sqr) / (var·B_0/B + sqr). Unknown noise:
// progress is samples, B / B_0.
double gain(double batch, const GradientNoise& noise);
// Progress per sample against that at B_0: gain(B)·B_0/B = (var + sqr) / (var + sqr·B/B_0).
double efficiency(double batch, const GradientNoise& noise);

}  // namespace jabas
