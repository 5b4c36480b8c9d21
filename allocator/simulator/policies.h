// The policies of the simulator (shared design "model" 9; what each does: docs/simulator.md).
// Where the sources of a baseline leave something open, it is done the way that serves it.
// Ownership: the setting must outlive the policy.
#pragma once

#include <memory>
#include <optional>

#include "allocator/simulator/policy.h"

namespace jabas::sim {

std::unique_ptr<Policy> make_static(const Setting& setting);
std::unique_ptr<Policy> make_static_tuned(const Setting& setting);
std::unique_ptr<Policy> make_simigrad(const Setting& setting, bool jump);
std::unique_ptr<Policy> make_pollux(const Setting& setting);
std::unique_ptr<Policy> make_uneven(const Setting& setting, bool accumulate);
std::unique_ptr<Policy> make_paper(const Setting& setting);
std::unique_ptr<Policy> make_bound(const Setting& setting);
std::unique_ptr<Policy> make_jabas(const Setting& setting);

// A system that stops, writes a checkpoint and starts again to change its GPUs.
constexpr ChangeCost kRestart = {30, 0};

}  // namespace jabas::sim
