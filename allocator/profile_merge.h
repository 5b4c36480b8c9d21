// Unites profiles of one model that were measured apart.
// The types of all; a type in several of them has all their points. What two of them say
// differently about the same thing is a conflict: InputError naming type, key, both files and both
// values. Only networks may differ: then each type keeps that of its own file. Files are named by
// Profile::source.
#pragma once

#include <string>
#include <vector>

#include "allocator/profile.h"

namespace jabas {

// At least one profile. The result's source names all of them.
Profile merge_profiles(std::vector<Profile> profiles);

// One type as a file tells it.
struct NamedType {
  std::string file;
  TypeProfile type;
};
// The union of what several files tell about the type `name`; at least one.
TypeProfile merge_types(const std::string& name, const std::vector<NamedType>& types);

}  // namespace jabas
