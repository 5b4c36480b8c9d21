// jabasacct without main: arguments in, text and exit status out.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "allocator/acct_options.h"

namespace jabas::acct {

// Prints to `out`; an error is one line "jabasacct: error: …" on `err` and exit status 1.
int run_jabasacct(const std::vector<std::string>& arguments, const Environment& environment,
                  double now_s, std::ostream& out, std::ostream& err);

}  // namespace jabas::acct
