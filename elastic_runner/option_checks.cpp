#include "elastic_runner/option_checks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "allocator/error.h"

namespace jabas {

void require(bool condition, const std::string& text) {
  if (!condition) throw UsageError(text);
}

std::string enumerated(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += i + 1 == names.size() ? " and " : ", ";
    list += names[i];
  }
  return list;
}

void require_one_of(const std::string& option, const std::string& value,
                    const std::vector<std::string>& accepted) {
  if (std::find(accepted.begin(), accepted.end(), value) != accepted.end()) return;
  throw UsageError(option + "=" + value + ": accepted " + (accepted.size() == 1 ? "is " : "are ") +
                   enumerated(accepted));
}

void require_range(const std::string& option, double value, double least, double most,
                   const std::string& accepted) {
  if (std::isfinite(value) && value >= least && value <= most) return;
  char number[32];
  std::snprintf(number, sizeof number, "%.15g", value);
  throw UsageError(option + "=" + number + ": accepted is " + accepted);
}

}  // namespace jabas
