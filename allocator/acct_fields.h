// The fields of jabasacct's three tables: decisions, member jobs, batch changes.
// A field that is not known yet is blank. Durations appear twice: [D-]HH:MM:SS and, named …Raw, as
// seconds; times likewise as local time and as UNIX seconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocator/acct_history.h"
#include "allocator/acct_table.h"

namespace jabas::acct {

// What a cell may need beside its row.
struct CellContext {
  double now_s = 0;
  std::string time_format;         // SLURM_TIME_FORMAT
  std::int64_t largest_batch = 0;  // of the listing, for bars
};

const std::vector<FieldInfo>& decision_fields();
const std::vector<FieldInfo>& member_fields();
const std::vector<FieldInfo>& batch_fields();
extern const char* const kDecisionFormat;
extern const char* const kMemberFormat;
extern const char* const kBatchFormat;

// `field` is an index into the list above.
std::string cell(const DecisionEntry& entry, std::size_t field, const CellContext& context);
std::string cell(const MemberEntry& entry, std::size_t field, const CellContext& context);
std::string cell(const BatchEntry& entry, std::size_t field, const CellContext& context);

// Numbers as jabasacct prints them.
std::string number_text(double value, int digits);
std::string cost_cell(double usd);  // "" when not known (-1)
std::string prices_text(const std::map<std::string, double>& prices);
std::string raw_text(double value);  // 12 digits, "" when not known (-1)

}  // namespace jabas::acct
