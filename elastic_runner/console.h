// `jabas-run train` in a batch script: presents the training to the job's daemon, starts the
// workers of the lead's own GPUs, shows progress, ends when the daemon says so.
//
// Exit code: that of the daemon's `stop`; kDaemonLost if the daemon is gone for longer than its
//            lease; 128 + signal.
// Threads: one, beside the control client's.
// Errors: InputError if there is no daemon; UsageError.
#pragma once

#include <map>
#include <string>

#include "elastic_runner/train_options.h"

namespace jabas {

int run_console(TrainCommand command, const std::string& executable);

// What members start with: ours without SLURM_*, SBATCH_*, SRUN_*, PMI*, SPANK and device
// variables; SLURM_CONF stays.
std::map<std::string, std::string> member_environment(char** variables);

// GPUs that Slurm gave to this job on this node; 0 if none.
int base_gpus();

}  // namespace jabas
