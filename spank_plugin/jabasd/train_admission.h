// Whether a `train` may run, and with which batch bounds and GPU limits: the console's hello
// against the job's options. Pure.   Errors: a refusal is a value, the one line the user sees.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "allocator/control_messages.h"
#include "allocator/gpu_set.h"
#include "spank_plugin/options.h"

namespace jabas {

struct Admission {
  std::string refusal;           // "" = admitted
  TrainingSpec spec;             // with the batch bounds in force
  std::vector<GpuLimit> limits;  // effective: base counted in, base type added
  GpuCounts base;                // GPUs of the lead in the run
};

// `base_type`: type of the lead's own GPUs as Slurm says, "" = take the console's word.
Admission admit(const Hello& hello, const Options& options, const std::string& base_type);

}  // namespace jabas
