#include "allocator/plan_members.h"

#include <algorithm>

namespace jabas {

bool contains(const std::vector<PlanMember>& members, const std::string& worker_id) {
  return std::any_of(members.begin(), members.end(),
                     [&](const PlanMember& member) { return member.worker_id == worker_id; });
}

std::vector<PlanMember> without(std::vector<PlanMember> members,
                                const std::set<std::string>& gone) {
  std::erase_if(members,
                [&](const PlanMember& member) { return gone.count(member.worker_id) > 0; });
  return members;
}

std::set<std::string> worker_ids(const std::vector<PlanMember>& members) {
  std::set<std::string> ids;
  for (const auto& member : members) ids.insert(member.worker_id);
  return ids;
}

}  // namespace jabas
