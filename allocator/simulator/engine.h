// One whole run on a virtual clock: asks the policy, counts progress, time and money.
//
// Between two questions the batch and the set are constant, so the run advances from event to
// event (the end of a row, an epoch, p steps, a change of what is available), not step by step.
// Steps are real-valued: an epoch ends when its samples are consumed, the run when its work is
// done, exactly. Every second is paid for every GPU held, pauses included; queues cost nothing.
// Growing the set while GPUs queue: the run goes on and changes at the first epoch boundary after
// they came; meanwhile no other set is decided on.
// Units: seconds, samples, the price list's currency.   Threads: one caller for each policy.
// Errors: InputError when nothing is available any more.
#pragma once

#include <string>
#include <vector>

#include "allocator/simulator/availability.h"
#include "allocator/simulator/policy.h"

namespace jabas::sim {

struct EpochRow {
  int epoch = 0;
  std::int64_t batch = 0;  // at its end
  GpuCounts gpus;          // at its end
  double steps = 0, time_s = 0, cost = 0;
};

struct RunResult {
  double time_s = 0, cost = 0;
  double steps = 0;
  double epochs = 0;  // passes over the data
  int resizes = 0;    // changes of the set
  int preemptions = 0;
  double waited_s = 0;  // without GPUs
  std::int64_t final_batch = 0;
  double final_metric = 0;  // of a run at the final batch all the time; or NaN
  bool clamped = false;     // a wanted batch was not feasible at some time
  std::vector<EpochRow> rows;
};

RunResult simulate(const Setting& setting, Policy& policy, const Availability& availability);

}  // namespace jabas::sim
