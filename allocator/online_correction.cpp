#include "allocator/online_correction.h"

#include <algorithm>
#include <cmath>

namespace jabas {
namespace {

constexpr double kDrift = 0.01;    // of ln(factor) between reports: 1 %
constexpr double kBase = 0.02;     // deviation of a report over many steps
constexpr double kPerStep = 0.2;   // deviation of a single step's time
constexpr double kFarOff = 3;      // deviations
constexpr double kMostLog = 6.91;  // factors from 0.001 to 1000

}  // namespace

OnlineCorrection::OnlineCorrection(double factor, double deviation, int reports)
    : log_factor_(std::clamp(std::log(factor), -kMostLog, kMostLog)),
      variance_(deviation * deviation),
      reports_(reports) {}

void OnlineCorrection::observe(double predicted_s, double measured_s, std::int64_t steps) {
  const double measured = std::log(measured_s / predicted_s);
  if (predicted_s <= 0 || measured_s <= 0 || steps < 1 || !std::isfinite(measured)) return;
  variance_ += kDrift * kDrift;
  const double noise = kBase * kBase + kPerStep * kPerStep / double(steps);
  double off = measured - log_factor_;
  const double limit = kFarOff * std::sqrt(variance_ + noise);
  if (std::abs(off) > limit) {
    const int side = off > 0 ? 1 : -1;
    if (far_off_ == side) {
      variance_ = std::max(variance_, off * off);  // twice: it is not the step but the GPU
      far_off_ = 0;
    } else {
      off = side * limit;
      far_off_ = side;
    }
  } else {
    far_off_ = 0;
  }
  const double gain = variance_ / (variance_ + noise);
  log_factor_ = std::clamp(log_factor_ + gain * off, -kMostLog, kMostLog);
  variance_ *= 1 - gain;
  ++reports_;
}

double OnlineCorrection::factor() const { return std::exp(log_factor_); }

double OnlineCorrection::deviation() const { return std::sqrt(variance_); }

void scale_times(TypeProfile* type, double factor) {
  for (ComputePoint& point : type->points) {
    for (double* time : {&point.data_s, &point.forward_s, &point.backward_s, &point.update_s})
      *time = std::min(*time * factor, kMaxSeconds);
  }
}

void scale_all_reduces(Profile* profile, double factor) {
  const auto scale = [&](CommunicationProfile& network) {
    // Without points a measured time is taken to be the ideal one, which goes with the bandwidth.
    if (network.points.empty()) network.bandwidth_bytes_per_s /= factor;
    for (auto& [ideal, measured] : network.points)
      measured = std::min(measured * factor, kMaxSeconds);
  };
  scale(profile->intra);
  scale(profile->inter);
  for (auto& [name, type] : profile->types) {
    // A type's own network without points uses the profile's, which are scaled already.
    const bool own_points = !type.intra.points.empty() || !type.inter.points.empty();
    const bool shared_points = !profile->intra.points.empty() || !profile->inter.points.empty();
    if (!own_points && shared_points) continue;
    scale(type.intra);
    scale(type.inter);
  }
}

}  // namespace jabas
