// Reads a workload folder of measured trainings: validation-BATCH.csv, one file for each fixed
// batch, with columns progress, iteration, metric, grad_sqr, grad_var (published with Sia, SOSP
// 2023; the columns are those of Pollux, OSDI 2021).
// Errors: IoError, InputError naming file, line, column and value.
#pragma once

#include <map>
#include <string>

#include "allocator/simulator/workload.h"

namespace jabas::sim {

// `directory`'s last part is the workload's name; it decides the samples of an epoch where that is
// known (cifar10, imagenet, bert), else they are the first row's iterations × batch of the
// smallest batch.
Workload read_sia_workload(const std::string& directory, GainRule rule);

// Dollars per GPU-hour of the GPU types that such folders have placements of.
const std::map<std::string, double>& sia_prices();

}  // namespace jabas::sim
