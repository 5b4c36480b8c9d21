#include "allocator/exponential_smoothing.h"

#include "allocator/error.h"

namespace jabas {
namespace {

struct Fit {
  double level = 0, squared_error = 0;
};

// Every error is linear in the first level l0 (e = u − v·l0 with v = (1 − α)^i), so the best l0 is
// a quotient of sums.
Fit fit(const std::vector<double>& values, double gain) {
  double own = 0, share = 1;  // level = own + share·l0
  double uv = 0, vv = 0, uu = 0;
  for (const double value : values) {
    const double error = value - own;
    uv += error * share;
    vv += share * share;
    uu += error * error;
    own += gain * error;
    share *= 1 - gain;
  }
  const double first = uv / vv;
  return {own + share * first, uu - first * uv};
}

}  // namespace

double smoothed_level(const std::vector<double>& values) {
  JABAS_ASSERT(!values.empty(), "smoothing of no values");
  constexpr int kGridSteps = 100;
  double best = 1;
  for (int i = kGridSteps; i >= 0; --i) {
    const double gain = double(i) / kGridSteps;
    if (fit(values, gain).squared_error < fit(values, best).squared_error) best = gain;
  }
  return fit(values, best).level;
}

}  // namespace jabas
