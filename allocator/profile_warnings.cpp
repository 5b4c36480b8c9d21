#include <array>
#include <map>

#include "allocator/csv_table.h"
#include "allocator/option_text.h"
#include "allocator/profile.h"

namespace jabas {
namespace {

struct Time {
  const char* key;
  double ComputePoint::*value;
};
// Those that TypeModel raises.
constexpr std::array<Time, 3> kTimes = {{{"data_s", &ComputePoint::data_s},
                                         {"forward_s", &ComputePoint::forward_s},
                                         {"backward_s", &ComputePoint::backward_s}}};

void add_warnings(const std::string& place, const std::vector<ComputePoint>& points,
                  const Time& time, std::vector<std::string>* warnings) {
  std::map<int, const ComputePoint*> slowest;  // by streams, of the smaller local batches
  for (const ComputePoint& point : points) {
    const ComputePoint*& before = slowest[point.streams];
    if (before == nullptr || point.*time.value >= before->*time.value) {
      before = &point;
      continue;
    }
    const std::string raised = shortest_text(before->*time.value);
    warnings->push_back(place + ": " + time.key + " is not monotone in the local batch: with " +
                        std::to_string(point.streams) + " streams it is " + raised + " at " +
                        std::to_string(before->local_batch) + " but " +
                        shortest_text(point.*time.value) + " at " +
                        std::to_string(point.local_batch) + ": taken as " + raised + " there");
  }
}

}  // namespace

std::vector<std::string> profile_warnings(const Profile& profile) {
  std::vector<std::string> warnings;
  for (const auto& [name, type] : profile.types)
    for (const Time& time : kTimes)
      add_warnings(profile.source + ": types." + name, type.points, time, &warnings);
  return warnings;
}

}  // namespace jabas
