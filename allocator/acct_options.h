// jabasacct's command line, with sacct's options and manners.
// Errors: UsageError with the one line that sacct (or getopt) would print.
// Threads: one caller at a time (getopt_long keeps its position in globals).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allocator/acct_table.h"

namespace jabas::acct {

// What the program takes from its environment; "" = unset.
struct Environment {
  std::string state;        // JABAS_STATE
  std::string format;       // JABAS_FORMAT
  std::string time_format;  // SLURM_TIME_FORMAT
  std::string home;         // HOME, else from passwd
};

enum class View { kDecisions, kMembers, kBatch, kWhy };
enum class Task { kReport, kHelp, kHelpFormat, kVersion };

struct Options {
  Task task = Task::kReport;
  View view = View::kDecisions;
  std::vector<std::string> jobs;  // empty = all
  std::string format;             // "" = the view's own
  TableStyle style = TableStyle::kFixed;
  std::string delimiter = "|";
  bool header = true, json = false;
  std::optional<std::string> start, end;  // as written; acct_time reads them
  int why_epoch = 0;
  std::string state;              // the state root
  bool state_is_default = false;  // neither asked for nor in the environment: it may not exist yet
};

// `arguments` without the program name.
Options parse_options(const std::vector<std::string>& arguments, const Environment& environment);
extern const char* const kHelp;

}  // namespace jabas::acct
