#include "allocator/candidates.h"

#include <algorithm>

namespace jabas {
namespace {

bool anything_available(const DecisionState& state) {
  if (total(present_set(state)) > 0) return true;
  return std::any_of(state.supply.begin(), state.supply.end(), [](const auto& entry) {
    return std::min(entry.second.free, entry.second.max) > 0;
  });
}

// Whole members above the base GPUs: the largest such count that is at most `count`.
int whole_units(int count, int base, int unit) {
  return count <= base ? base : base + (count - base) / unit * unit;
}
int whole_units_up(int count, int base, int unit) {
  return whole_units(count + unit - 1, base, unit);
}

}  // namespace

GpuCounts present_set(const DecisionState& state) {
  GpuCounts present;
  for (const auto& [type, supply] : state.supply)
    present[type] = std::max(count_of(state.held, type), supply.base);
  return normalized(present);
}

std::vector<CountRange> count_ranges(const DecisionState& state) {
  const GpuCounts present = present_set(state);
  const bool queue_all = state.start && !anything_available(state);
  std::vector<CountRange> ranges;
  for (const auto& [type, supply] : state.supply) {
    const int unit = std::max(state.unit, 1);
    const int available =
        queue_all ? supply.max : count_of(present, type) + std::max(supply.free, 0);
    CountRange range{type, whole_units_up(std::max(supply.min, supply.base), supply.base, unit),
                     whole_units(std::min(supply.max, available), supply.base, unit)};
    if (state.start)
      range.last = std::max(range.last, range.first);
    else
      range.first = std::min(range.first, range.last);
    if (!state.profile.types.contains(type)) range.last = range.first;
    ranges.push_back(range);
  }
  return ranges;
}

std::vector<GpuCounts> candidates(const DecisionState& state) {
  std::vector<GpuCounts> sets{{}};
  for (const CountRange& range : count_ranges(state)) {
    std::vector<GpuCounts> longer;
    for (const GpuCounts& set : sets)
      for (int count = range.first; count <= range.last; count += std::max(state.unit, 1)) {
        longer.push_back(set);
        if (count > 0) longer.back()[range.type] = count;
      }
    sets = std::move(longer);
  }
  const GpuCounts present = present_set(state);
  if (!present.empty() && std::find(sets.begin(), sets.end(), present) == sets.end())
    sets.push_back(present);
  return sets;
}

std::vector<std::string> types_below_minimum(const DecisionState& state, const GpuCounts& gpus) {
  std::vector<std::string> types;
  for (const CountRange& range : count_ranges(state))
    if (count_of(gpus, range.type) < std::min(state.supply.at(range.type).min, range.first))
      types.push_back(range.type);
  return types;
}

}  // namespace jabas
