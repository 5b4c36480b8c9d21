// The names in a folder.
// Errors: IoError "cannot read WHAT" with path and cause; `what` is "the profile folder" or so.
#pragma once

#include <string>
#include <vector>

namespace jabas {

// Sorted, without names that begin with a dot.
std::vector<std::string> folder_entries(const std::string& path, const std::string& what);

}  // namespace jabas
