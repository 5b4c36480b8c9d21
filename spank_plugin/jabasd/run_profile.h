// The profile a run decides with: the file the user gave, or what the workers measured in this run,
// with types never seen scaled by TFLOP/s. Without either the first decision uses nominal times in
// proportion to 1/TFLOP/s. Threads: one owner.   Errors: InputError from the profile file.
#pragma once

#include <string>
#include <vector>

#include "allocator/control_messages.h"
#include "allocator/profile.h"

namespace jabas {

class RunProfile {
 public:
  // "" = no file.
  explicit RunProfile(const std::string& path);
  // Only used while there is no file: measured times replace nominal ones.
  void measured(const WorkerTimes& times);
  // A profile with every one of `types` that can be described; `notes` gets a line for each that is
  // scaled or left out.
  Profile for_types(const std::vector<std::string>& types, std::int64_t local_batch,
                    std::vector<std::string>* notes) const;
  bool from_file() const { return from_file_; }
  const std::string& source() const { return profile_.source; }
  // What is doubtful in it.
  std::vector<std::string> warnings() const { return profile_warnings(profile_); }

 private:
  bool from_file_ = false;
  Profile profile_;
};

}  // namespace jabas
