// `train --local N[,M,…]`: N workers on this machine, without Slurm. Plays the daemon's part with
// the same generations (GenerationCoordinator), so that resizes and faults can be tried on a
// laptop.
//
// A worker that is killed costs at most its step: the others go on, and the next boundary brings a
// replacement.
// A worker that ends with an error of its own (bad file, bad option) ends the run with that error.
// SIGINT and SIGTERM stop the run at the next step, after a checkpoint (exit code 128 + signal); a
// second one kills.
// Threads: one.
// Errors: IoError at the start; afterwards the exit code tells.
#pragma once

#include "allocator/training_spec.h"
#include "elastic_runner/local_profile.h"

namespace jabas {

// `executable` is started for each worker. Returns the program's exit code.
int run_local(const TrainingSpec& spec, const LocalProfile& profile, const std::string& executable);

}  // namespace jabas
