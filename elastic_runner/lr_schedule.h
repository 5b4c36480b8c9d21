// The learning rate's factor over a run, a function of the samples seen: the same whatever the
// global batch is and however often it changes.
//
// Warm-up rises linearly from 0. `step` multiplies by gamma every so many epochs from the start of
// the run; `cosine` (Loshchilov and Hutter 2017) and `polynomial` fall from 1 after the warm-up to
// their final factor at the end of the last epoch.
// Units: samples.   Pure.
#pragma once

#include "allocator/training_spec.h"

namespace jabas {

// `samples`: seen since the start of the run. Taken in the middle of a step the sum over the steps
// of factor times samples is nearly the same for every global batch. Throws UsageError for an
// unknown schedule.
double schedule_factor(const TrainingSpec& spec, double samples);

}  // namespace jabas
