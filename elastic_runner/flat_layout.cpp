#include "elastic_runner/flat_layout.h"

namespace jabas {
namespace {

constexpr std::int64_t kAlignment = 16;

std::int64_t aligned(std::int64_t count) {
  return (count + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

FlatLayout make_flat_layout(const std::vector<std::int64_t>& parameter_counts,
                            std::int64_t element_bytes, std::int64_t bucket_bytes) {
  FlatLayout layout;
  layout.slots.resize(parameter_counts.size());
  bool open = false;
  for (std::size_t i = parameter_counts.size(); i-- > 0;) {
    if (!open) layout.buckets.push_back({layout.size, layout.size, 0});
    layout.slots[i] = {layout.size, parameter_counts[i],
                       static_cast<int>(layout.buckets.size()) - 1};
    layout.size += aligned(parameter_counts[i]);
    auto& bucket = layout.buckets.back();
    bucket.end = layout.size;
    ++bucket.parameters;
    const std::int64_t limit_bytes = bucket_bytes / (layout.buckets.size() == 1 ? 16 : 2);
    open = (bucket.end - bucket.begin) * element_bytes < limit_bytes;
  }
  return layout;
}

}  // namespace jabas
