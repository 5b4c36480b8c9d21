// The control vector that rides in the last bucket of each step and is summed over the ranks: a
// flag is set if its sum is > 0, so "at the next step" means the same step everywhere, at no extra
// operation.
#pragma once

#include <cstddef>
#include <vector>

namespace jabas {

enum class ControlFlag : std::size_t {
  kLeaseLost,  // a rank has not heard the daemon for its lease: checkpoint, then all leave
  kStop,       // the daemon (or the console) ends the run: checkpoint, then all leave
  kRegroup,    // a rank must go (release, SIGTERM): the others need a new generation
  kOverruns,   // emulated steps whose real work took longer, a count
  kCount,
};

using ControlVector = std::vector<float>;

inline ControlVector make_control_vector() {
  return ControlVector(std::size_t(ControlFlag::kCount), 0.0F);
}
inline float& at(ControlVector& control, ControlFlag flag) { return control[std::size_t(flag)]; }
inline float at(const ControlVector& control, ControlFlag flag) {
  return control[std::size_t(flag)];
}

}  // namespace jabas
