// One decision explained: what was known, what the candidates promised, why one was taken.
#pragma once

#include <iosfwd>

#include "allocator/acct_history.h"

namespace jabas::acct {

void print_why(std::ostream& out, const DecisionEntry& entry, const std::string& time_format);

// Why `candidate` was not taken, in words, compared with the chosen one over all epochs left:
// "12.0 % slower, 3.1 % dearer; score 7.5 % worse". "" for the chosen one.
std::string why_lost(const CandidateResult& candidate, const Decision& decision);

}  // namespace jabas::acct
