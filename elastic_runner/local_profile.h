// The profile that `train --local` plans with, and the GPU type its workers stand for.
// Errors: InputError from the file; UsageError when it is not clear which of its types this machine
//         is.
#pragma once

#include <string>

namespace jabas {

struct LocalProfile {
  std::string json;      // "" = none: workers are taken to be alike, the batch is split evenly
  std::string gpu_type;  // of every worker; "" without a profile
};

// `path`: --profile or JABAS_PROFILE, "" = none. `own_type`: JABAS_GPU_TYPE; "" takes the profile's
// only type.
LocalProfile read_local_profile(const std::string& path, const std::string& own_type);

}  // namespace jabas
