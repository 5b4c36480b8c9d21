// Checks of single option values of `jabas-run train`.
// Pure.   Errors: UsageError, one line: option, value, what is accepted.
#pragma once

#include <string>
#include <vector>

namespace jabas {

// "a, b and c".
std::string enumerated(const std::vector<std::string>& names);

void require(bool condition, const std::string& text);
void require_one_of(const std::string& option, const std::string& value,
                    const std::vector<std::string>& accepted);
// least ≤ value ≤ most; `accepted` says it in words.
void require_range(const std::string& option, double value, double least, double most,
                   const std::string& accepted);

}  // namespace jabas
