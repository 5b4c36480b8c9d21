// What the nodes of the cluster could give a run: free GPUs in whole members, CPUs per member.
// Pure. Not promised: that Slurm will start a member on a GPU that is free here (limits, memory,
// reservations decide too).
#pragma once

#include <string>
#include <vector>

#include "spank_plugin/jabasd/slurm_client.h"

namespace jabas {

// CPUs of one member of `unit` GPUs: max(1, ⌊(CPUs − 1)/GPUs⌋)·unit on the type's node with the
// fewest CPUs per GPU. One CPU stays free for a lead on the node: with ⌊CPUs/GPUs⌋ its last GPU
// could never be reached. `unit` when no node has the type.
int member_cpus(const std::vector<NodeRow>& nodes, const std::string& type, int unit);

// GPUs of the type that members of `unit` GPUs could get now, by free GPUs and free CPUs of each
// usable node.
int free_gpus(const std::vector<NodeRow>& nodes, const std::string& type, int unit);

// Types of GPU the cluster has, in name order.
std::vector<std::string> gpu_types(const std::vector<NodeRow>& nodes);

}  // namespace jabas
