// --vsw and --accum: a fixed split of the virtual workers over the workers of each epoch.
// Pure.
// Text: one value, or per epoch (`,`) and per worker (`:`): "2,4,3:3:2". The last epoch's entry
// repeats; an epoch entry with one value holds for every worker.
// Errors: UsageError naming option, value and what is accepted.
#pragma once

#include <string>
#include <vector>

#include "allocator/config_solver.h"
#include "allocator/training_spec.h"

namespace jabas {

// `least` is the smallest accepted number (1 for V, 0 for accumulation steps).
SplitTable parse_split_table(const std::string& option, const std::string& text, int least);

// The workers of an epoch (from 1) when `workers_per_epoch` lists them; the last one repeats.
int workers_in_epoch(const std::vector<int>& workers_per_epoch, int epoch);

// The shares that --vsw/--accum give to `workers` ranks in `epoch`. With only --vsw there is no
// accumulation, with only
// --accum one stream. Throws UsageError if an entry lists another number of workers.
std::vector<GpuShare> table_shares(const TrainingSpec& spec, int epoch, int workers);

int virtual_workers_of(const std::vector<GpuShare>& shares);  // Σ V·(a+1)

}  // namespace jabas
