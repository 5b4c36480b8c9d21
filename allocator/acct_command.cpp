#include "allocator/acct_command.h"

#include <algorithm>
#include <ostream>
#include <set>

#include "allocator/acct_fields.h"
#include "allocator/acct_json.h"
#include "allocator/acct_query.h"
#include "allocator/acct_time.h"
#include "allocator/acct_why.h"
#include "allocator/error.h"

namespace jabas::acct {
namespace {

const std::vector<FieldInfo>& fields_of(View view) {
  if (view == View::kMembers) return member_fields();
  if (view == View::kBatch) return batch_fields();
  return decision_fields();
}

std::string format_of(const Options& options) {
  if (!options.format.empty()) return options.format;
  if (options.view == View::kMembers) return kMemberFormat;
  if (options.view == View::kBatch) return kBatchFormat;
  return kDecisionFormat;
}

Query query_of(const Options& options, double now_s) {
  Query query;
  query.root = options.state;
  query.root_may_be_missing = options.state_is_default;
  query.jobs = options.jobs;
  query.now_s = now_s;
  if (options.start) query.start_s = parse_time(*options.start, now_s);
  if (options.end) query.end_s = parse_time(*options.end, now_s);
  if (query.start_s && *query.start_s > query.end_s.value_or(now_s)) {
    throw UsageError("Start time (" + time_text(*query.start_s) +
                     ") requested is after end time (" + time_text(query.end_s.value_or(now_s)) +
                     ")");
  }
  return query;
}

template <typename Row>
void print_rows(const Table& table, const std::vector<Column>& columns,
                const std::vector<Row>& rows, const CellContext& context) {
  for (const Row& row : rows) {
    std::vector<std::string> values;
    for (const Column& column : columns) values.push_back(cell(row, column.field, context));
    table.row(values);
  }
}

// What became of each run, below the decisions.
void print_runs(std::ostream& out, const std::vector<JobHistory>& jobs) {
  for (const JobHistory& job : jobs) {
    for (const RunSummary& run : job.runs) {
      out << "Job " << run.key.job_id << " run " << run.key.run;
      if (run.key.restart > 0) out << " restart " << run.key.restart;
      out << ": " << run.state << ", " << run.epochs_done << " of " << run.epochs << " epochs";
      if (run.duration_s >= 0) out << ", " << duration_text(run.duration_s);
      if (run.cost_usd >= 0) out << ", cost $" << cost_cell(run.cost_usd);
      if (run.test_accuracy >= 0) out << ", accuracy " << number_text(run.test_accuracy, 4);
      if (!run.reason.empty()) out << " (" << run.reason << ")";
      out << '\n';
      if (!run.emulated) continue;
      // Numbers that look like those of GPUs must not be taken for them.
      out << "  Its GPUs are emulated: times and costs are not of real ones";
      if (run.emulated_steps > 0) {
        out << "; " << run.emulation_overruns << " of " << run.emulated_steps << " steps were late";
      }
      out << ".\n";
    }
  }
}

void print_table(std::ostream& out, const Options& options, const std::vector<Column>& columns,
                 const std::vector<JobHistory>& jobs, double now_s,
                 const std::string& time_format) {
  CellContext context{now_s, time_format, 0};
  for (const JobHistory& job : jobs) {
    for (const auto& entry : job.batches) {
      context.largest_batch = std::max(context.largest_batch, entry.global_batch);
    }
  }
  const Table table(out, fields_of(options.view), columns, options.style, options.delimiter);
  if (options.header) table.header();
  for (const JobHistory& job : jobs) {
    if (options.view == View::kMembers) {
      print_rows(table, columns, job.members, context);
    } else if (options.view == View::kBatch) {
      print_rows(table, columns, job.batches, context);
    } else {
      print_rows(table, columns, job.decisions, context);
    }
  }
  if (options.header && options.style == TableStyle::kFixed) print_runs(out, jobs);
}

void print_explanations(std::ostream& out, const Options& options,
                        const std::vector<JobHistory>& jobs, const std::string& time_format) {
  std::set<int> epochs;
  bool any = false;
  for (const JobHistory& job : jobs) {
    for (const auto& entry : job.decisions) {
      epochs.insert(entry.epoch);
      if (entry.epoch != options.why_epoch) continue;
      if (any) out << '\n';
      print_why(out, entry, time_format);
      any = true;
    }
  }
  if (any) return;
  std::string known;
  for (const int epoch : epochs) known += (known.empty() ? "" : ", ") + std::to_string(epoch);
  throw UsageError(
      "job " + options.jobs.front() + ": no decision for epoch " +
      std::to_string(options.why_epoch) + "; " +
      (known.empty() ? "the job has no decisions" : "there are decisions for " + known));
}

int report(const Options& options, const std::vector<std::string>& arguments, double now_s,
           const std::string& time_format, std::ostream& out, std::ostream& err) {
  const std::vector<Column> columns = choose_columns(format_of(options), fields_of(options.view));
  const Selection selection = select_jobs(query_of(options, now_s));
  if (options.json) {
    std::vector<std::string> command{"jabasacct"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    out << to_json_text(selection, options, command);
  } else if (options.view == View::kWhy) {
    for (const std::string& error : selection.errors) throw InputError(error);
    print_explanations(out, options, selection.jobs, time_format);
  } else {
    print_table(out, options, columns, selection.jobs, now_s, time_format);
    for (const std::string& error : selection.errors) err << "jabasacct: error: " << error << '\n';
  }
  return selection.errors.empty() ? 0 : 1;
}

}  // namespace

int run_jabasacct(const std::vector<std::string>& arguments, const Environment& environment,
                  double now_s, std::ostream& out, std::ostream& err) {
  try {
    const Options options = parse_options(arguments, environment);
    switch (options.task) {
      case Task::kHelp:
        out << kHelp;
        return 0;
      case Task::kHelpFormat:
        print_field_names(out, fields_of(options.view));
        return 0;
      case Task::kVersion:
        out << "jabas " << JABAS_VERSION << '\n';
        return 0;
      case Task::kReport:
        return report(options, arguments, now_s, environment.time_format, out, err);
    }
  } catch (const Error& error) {
    err << "jabasacct: error: " << error.what() << '\n';
  }
  return 1;
}

}  // namespace jabas::acct
