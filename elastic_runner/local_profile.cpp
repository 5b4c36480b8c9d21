#include "elastic_runner/local_profile.h"

#include "allocator/error.h"
#include "allocator/profile.h"

namespace jabas {

LocalProfile read_local_profile(const std::string& path, const std::string& own_type) {
  if (path.empty()) return {};
  const Profile profile = load_profile(path);
  std::string types;
  for (const auto& [name, unused] : profile.types) types += (types.empty() ? "" : ", ") + name;
  if (own_type.empty() && profile.types.size() != 1) {
    throw UsageError("--profile=" + path + ": has " + std::to_string(profile.types.size()) +
                     " GPU types (" + types + "); JABAS_GPU_TYPE must name that of this machine");
  }
  const std::string type = own_type.empty() ? profile.types.begin()->first : own_type;
  if (!profile.types.contains(type)) {
    throw UsageError("JABAS_GPU_TYPE=" + type + ": not in " + path + "; accepted are " + types);
  }
  return {to_json_text(profile), type};
}

}  // namespace jabas
