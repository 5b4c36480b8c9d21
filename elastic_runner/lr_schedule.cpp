#include "elastic_runner/lr_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "allocator/error.h"

namespace jabas {
namespace {

// Of what comes after the warm-up, in 0..1.
double progress(const TrainingSpec& spec, double epochs) {
  const double rest = double(spec.epochs) - spec.warmup_epochs;
  return rest > 0 ? std::clamp((epochs - spec.warmup_epochs) / rest, 0.0, 1.0) : 0;
}

// From 1 to the final factor as `fall` goes from 1 to 0.
double to_end(const TrainingSpec& spec, double fall) {
  return spec.lr_end + (1 - spec.lr_end) * fall;
}

double curve(const TrainingSpec& spec, double epochs) {
  if (spec.lr_schedule == "constant") return 1;
  if (spec.lr_schedule == "step")
    return std::pow(spec.lr_gamma, std::floor(epochs / spec.lr_step_epochs));
  if (spec.lr_schedule == "cosine")
    return to_end(spec, (1 + std::cos(std::numbers::pi * progress(spec, epochs))) / 2);
  if (spec.lr_schedule == "polynomial")
    return to_end(spec, std::pow(1 - progress(spec, epochs), spec.lr_power));
  throw UsageError("--lr-schedule=" + spec.lr_schedule +
                   ": accepted are constant, step, cosine and polynomial");
}

}  // namespace

double schedule_factor(const TrainingSpec& spec, double samples) {
  const double epochs = samples / double(spec.train_samples);
  const double warm = epochs < spec.warmup_epochs ? epochs / spec.warmup_epochs : 1;
  return warm * curve(spec, epochs);
}

}  // namespace jabas
