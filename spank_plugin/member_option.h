// Reads --jabas-member='TYPE:sbatch options;…': sbatch options that jabasd adds to the member jobs
// of one GPU type.
//
// Errors: as in option_values.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jabas {

// Refuses options that the system sets itself: they would take a member away from its run.
std::string read_member(std::string_view value, const std::vector<std::string>& known_types,
                        std::vector<std::pair<std::string, std::string>>* member);

}  // namespace jabas
