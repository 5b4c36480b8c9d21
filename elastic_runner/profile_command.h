// `jabas-run profile`: measures one GPU for a model and writes the profile that decisions are made
// with (docs/profile.md).
//
// Under srun with one task on each of several nodes the all-reduce across nodes is measured, too;
// the first task does the rest. Otherwise that part is left out, and said so.
// Errors: UsageError, InputError, IoError, CommError; nothing is written then.
#pragma once

#include "elastic_runner/profile_options.h"
#include "elastic_runner/runner_backends.h"

namespace jabas {

// The program's exit code. The specification's number of samples is filled in.
int run_profile(ProfileCommand command, const RunnerBackends& backends);

}  // namespace jabas
