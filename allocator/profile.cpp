#include "allocator/profile.h"

#include <cmath>
#include <cstdio>

namespace jabas {
namespace {

double tflops_of(const std::string& name, const TypeProfile& type) {
  return type.tflops > 0 ? type.tflops : builtin_tflops(name);
}

// Work on the GPU shrinks with its TFLOP/s; loading data is the CPU's and stays. Memory is taken to
// be the same.
TypeProfile scale(const TypeProfile& from, double factor, double tflops) {
  TypeProfile type = from;
  type.tflops = tflops;
  type.scaled = true;
  for (ComputePoint& point : type.points) {
    point.forward_s *= factor;
    point.backward_s *= factor;
    point.update_s *= factor;
    point.copy_s *= factor;
    point.bn_sync_s *= factor;
  }
  return type;
}

// The measured type whose TFLOP/s is nearest by ratio; "" if no measured type has a known one.
std::string nearest_measured(const Profile& profile, double tflops) {
  std::string nearest;
  double least = 0;
  for (const auto& [name, type] : profile.types) {
    const double own = tflops_of(name, type);
    if (type.scaled || own <= 0) continue;
    const double distance = std::abs(std::log(own / tflops));
    if (nearest.empty() || distance < least) {
      nearest = name;
      least = distance;
    }
  }
  return nearest;
}

}  // namespace

Profile complete_profile(Profile known, const std::vector<std::string>& types,
                         std::vector<std::string>* notes) {
  const auto note = [&](const std::string& text) {
    if (notes) notes->push_back(text);
  };
  for (const std::string& name : types) {
    if (known.types.contains(name)) continue;
    const double tflops = builtin_tflops(name);
    if (tflops <= 0) {
      note(name +
           ": neither in the profile nor in the table of TFLOP/s: used only up to its minimum");
      continue;
    }
    const std::string from = nearest_measured(known, tflops);
    if (from.empty()) {
      note(name + ": no measured type to scale from: used only up to its minimum");
      continue;
    }
    const double own = tflops_of(from, known.types[from]);
    known.types[name] = scale(known.types[from], own / tflops, tflops);
    char ratio[64];
    std::snprintf(ratio, sizeof ratio, "(%.4g to %.4g)", own, tflops);
    note(name + ": not in the profile: times of " + from + " scaled by TFLOP/s " + ratio);
  }
  return known;
}

}  // namespace jabas
