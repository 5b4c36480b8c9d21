// Clusters on the command line and in tables of cases: "node0:4,node1:4" or "node0:4+node1:4", one
// entry for each node, or for nodes that are filled one after another; a type may be there several
// times.
// Threads: pure.   Errors: a problem is a value.
#pragma once

#include <string>
#include <vector>

#include "allocator/config_solver.h"
#include "allocator/profile.h"

namespace jabas {

struct ClusterEntry {
  std::string type;
  int gpus = 0;
};

// "" with the entries, or what is wrong: value and accepted form. Each type must be in the profile.
std::string parse_cluster(const std::string& text, const Profile& profile,
                          std::vector<ClusterEntry>* cluster);

// The GPUs in the order of the entries, on Σ ⌈gpus / gpus_per_node⌉ nodes. "" or why they are not
// whole units of `unit` GPUs (a unit is inside one entry).
std::string rank_cluster(const std::vector<ClusterEntry>& cluster, const Profile& profile, int unit,
                         RankedGpus* gpus);

// Equal shares of a type together: "2×node0 V=3 a=9 + 2×node1 V=4 a=4".
struct ShareCount {
  std::string type;
  GpuShare share;
  int gpus = 0;
};
std::vector<ShareCount> counted_shares(const RankedGpus& gpus, const Configuration& configuration);
std::string to_text(const std::vector<ShareCount>& shares);

}  // namespace jabas
