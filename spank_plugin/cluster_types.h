// The GPU types of the cluster, asked from sinfo at submission.
//
// Threads: one caller. Errors: no answer is a value (answered = false), never an exception.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace jabas {

struct ClusterTypes {
  bool answered = false;  // sinfo ended in time and without an error
  std::vector<std::string>
      types;  // sorted, each once; empty also if the cluster's GPUs have no types
};

// Runs `sinfo -h -a -o %G`, the one beside the calling program before the one in PATH.
ClusterTypes ask_cluster_types(std::chrono::milliseconds deadline);

// The types in lines like "gpu:v100:2(S:0-1),gpu:p100:1,shard:4".
std::vector<std::string> gpu_types_of(std::string_view gres_lines);

}  // namespace jabas
