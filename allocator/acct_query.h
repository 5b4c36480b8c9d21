// Finds the journals under a state root (ROOT/<cluster>/<job id>/journal.jsonl) and the jobs and
// rows that were asked for. Reads only.
// Errors: IoError if the root cannot be read. A journal that cannot be read is a line in `errors`;
//         the others are still shown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allocator/acct_history.h"

namespace jabas::acct {

struct Query {
  std::string root;
  bool root_may_be_missing = false;      // then nothing matches
  std::vector<std::string> jobs;         // empty = all
  std::optional<double> start_s, end_s;  // cut rows; without jobs and without both: see below
  double now_s = 0;
};

struct Selection {
  std::vector<JobHistory> jobs;
  std::vector<std::string> errors, warnings;
};

// Without jobs and times: whole jobs that had a decision since midnight or are still running.
Selection select_jobs(const Query& query);

}  // namespace jabas::acct
