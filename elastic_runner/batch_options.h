// The batch options of `train` against each other: derives N and the bounds of the global batch.
// Pure.
// Errors: UsageError, one line.
#pragma once

#include <set>
#include <string>

#include "allocator/training_spec.h"

namespace jabas {

struct BatchOptions {
  std::set<std::string>
      given;             // which of --virtual-workers --batch-min --batch-max --batch-initial
  std::string adaptive;  // "" | on | off
  bool similarity_target_given = false;
};

// With --local every batch field of `spec` is set afterwards, and Σ V·(a+1) = N holds in every
// epoch. Under Slurm what was not given stays 0 (the daemon knows --jabas-batch, and the first set
// of GPUs decides the rest).
void resolve_batch(TrainingSpec& spec, const BatchOptions& options);

}  // namespace jabas
