// Questions about the ordered members of a generation.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "allocator/control_messages.h"

namespace jabas {

bool contains(const std::vector<PlanMember>& members, const std::string& worker_id);
// The others, in their order.
std::vector<PlanMember> without(std::vector<PlanMember> members, const std::set<std::string>& gone);
std::set<std::string> worker_ids(const std::vector<PlanMember>& members);

}  // namespace jabas
