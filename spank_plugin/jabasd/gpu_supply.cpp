#include "spank_plugin/jabasd/gpu_supply.h"

#include <algorithm>
#include <set>

namespace jabas {
int member_cpus(const std::vector<NodeRow>& nodes, const std::string& type, int unit) {
  int per_gpu = 0;
  for (const NodeRow& node : nodes) {
    const int gpus = count_of(node.gpus, type);
    if (gpus == 0) continue;
    // All GPUs of the node share its CPUs, whatever their types.
    const int here = std::max(1, (node.cpus - 1) / total(node.gpus));
    per_gpu = per_gpu == 0 ? here : std::min(per_gpu, here);
  }
  return std::max(1, per_gpu) * unit;
}

int free_gpus(const std::vector<NodeRow>& nodes, const std::string& type, int unit) {
  const int cpus = member_cpus(nodes, type, unit);
  int members = 0;
  for (const NodeRow& node : nodes) {
    if (!node.usable) continue;
    const int free = count_of(node.gpus, type) - count_of(node.used, type);
    members += std::max(0, std::min(free / unit, node.idle_cpus / cpus));
  }
  return members * unit;
}

std::vector<std::string> gpu_types(const std::vector<NodeRow>& nodes) {
  std::set<std::string> types;
  for (const NodeRow& node : nodes) {
    for (const auto& [type, gpus] : node.gpus) {
      if (gpus > 0) types.insert(type);
    }
  }
  return {types.begin(), types.end()};
}

}  // namespace jabas
