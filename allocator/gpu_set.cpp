#include "allocator/gpu_set.h"

namespace jabas {

int count_of(const GpuCounts& gpus, const std::string& type) {
  const auto found = gpus.find(type);
  return found == gpus.end() ? 0 : found->second;
}

int total(const GpuCounts& gpus) {
  int sum = 0;
  for (const auto& [type, count] : gpus) sum += count;
  return sum;
}

GpuCounts normalized(GpuCounts gpus) {
  std::erase_if(gpus, [](const auto& entry) { return entry.second == 0; });
  return gpus;
}

std::string to_text(const GpuCounts& gpus) {
  std::string text;
  for (const auto& [type, count] : gpus) {
    if (count == 0) continue;
    if (!text.empty()) text += " + ";
    text += std::to_string(count) + "×" + type;
  }
  return text.empty() ? "none" : text;
}

std::string to_list(const GpuCounts& gpus) {
  std::string text;
  for (const auto& [type, count] : gpus) {
    if (count == 0) continue;
    if (!text.empty()) text += ",";
    text += type + ":" + std::to_string(count);
  }
  return text;
}

}  // namespace jabas
