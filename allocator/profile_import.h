// Imports the profile folders that the paper's reference implementation publishes (JABAS and IIDP:
// cluster_info.json, config.json, folders of compute, memory, all-reduce and bucket measurements).
// Each server becomes a GPU type of its own; servers that are given the same type are united if
// their measurements do not contradict each other.
// Errors: InputError naming file, key and value; a folder whose servers are not those of
//         cluster_info.json is refused with both lists. UsageError for a name of a server that is
//         not there. IoError.
#pragma once

#include <map>
#include <string>

#include "allocator/profile.h"

namespace jabas {

// type_of_server: names of types; a server that is not listed is a type under its own name.
Profile import_profile(const std::string& folder,
                       const std::map<std::string, std::string>& type_of_server);

}  // namespace jabas
