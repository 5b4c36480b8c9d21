// The lines a person reads while a run goes on, the same under Slurm and with `train --local`.
// Pure.
#pragma once

#include <string>

#include "allocator/control_messages.h"

namespace jabas {

// "epoch 2/6 ended: loss 0.4121, test accuracy 0.8704, B 96, 12.3 s"
std::string to_text(const EpochReport& report, int epochs);

// "epoch 3: 2×p100 + 1×v100 → 2×v100, pause 0.06 s"
std::string resize_text(int epoch, const GpuCounts& before, const GpuCounts& after, double pause_s);

}  // namespace jabas
