// The checks of `train` that look at files, before anything is started: data set, profile,
// checkpoint, output places.
// Errors: InputError, IoError; one line each.
#pragma once

#include "elastic_runner/runner_backends.h"
#include "elastic_runner/train_options.h"

namespace jabas {

// Fills in spec.train_samples.
void check_train_files(TrainingSpec& spec, const RunnerBackends& backends);

}  // namespace jabas
