// What the simulator prints: the epochs of a run, the table of results, and what has to be said
// with them.
#pragma once

#include <string>
#include <vector>

#include "allocator/simulator/engine.h"

namespace jabas::sim {

struct NamedResult {
  std::string workload, cluster, policy, objective;
  RunResult result;
};

// CSV `workload,cluster,policy,objective,time_s,cost_usd,iterations,epochs,resizes,final_batch,
// final_metric`, one row for each run.
std::string results_csv(const std::vector<NamedResult>& results);
// CSV `policy,objective,epoch,batch,gpus,time_s,cost_usd,iterations`, one row for each epoch.
std::string epochs_csv(const std::vector<NamedResult>& results);
// Both, and the remarks, as one object.
std::string results_json(const std::vector<NamedResult>& results,
                         const std::vector<std::string>& remarks);
// The objectives' times and costs for people, with the sets over time.
std::string plan_table(const std::vector<NamedResult>& results);

// What no table may be read without.
std::vector<std::string> remarks(const std::vector<NamedResult>& results, bool measured_gain);

// "dgx:8 (epochs 1-3), dgx:4+rtx:2 (4-90)".
std::string sets_over_time(const RunResult& result);

}  // namespace jabas::sim
