// jabasacct --json: an envelope {meta, errors, warnings, runs, <list>} as Slurm's commands print
// it. Times are UNIX seconds, what is not known is null.
#pragma once

#include <string>
#include <vector>

#include "allocator/acct_options.h"
#include "allocator/acct_query.h"

namespace jabas::acct {

// The list is "decisions" (also for --why), "members" or "batches".
std::string to_json_text(const Selection& selection, const Options& options,
                         const std::vector<std::string>& command);

}  // namespace jabas::acct
