// jabas-sim iter-time --profile P --cases FILE.csv [--reference-rounding] [-o OUT]: the predicted
// time of a step for each row. Columns by name: lbs, server (a type of the profile), total_gpus,
// servers (nodes), V, GA and, if there is one, sync (overlap or sequential, before --sync); others
// are kept. Result: iter_time_s; where a row cannot run it is empty and the column reason says why.
#include <CLI/CLI.hpp>
#include <limits>
#include <memory>

#include "allocator/sim_command.h"
#include "allocator/sim_profile.h"
#include "allocator/sim_table.h"
#include "allocator/text_file.h"

namespace jabas::sim {
namespace {

constexpr std::int64_t kMaxWhole = 1000000000;

struct Columns {
  explicit Columns(const CsvTable& table)
      : local_batch(table.column("lbs")),
        type(table.column("server")),
        gpus(table.column("total_gpus")),
        nodes(table.column("servers")),
        streams(table.column("V")),
        accum_steps(table.column("GA")) {}
  std::size_t local_batch, type, gpus, nodes, streams, accum_steps;
};

std::string misfit(const TypeModel& type, const std::string& name, std::int64_t local_batch,
                   int streams) {
  const int most = type.max_streams(local_batch);
  if (streams <= most) return "";
  const std::string batch = "local batch " + std::to_string(local_batch);
  if (most == 0) return batch + " is not known to fit on " + name;
  return std::to_string(streams) + " streams of " + batch + " are not known to fit on " + name +
         ", at most " + std::to_string(most);
}

bool is_sequential(const CsvTable& table, std::size_t row, bool otherwise) {
  if (!table.has("sync")) return otherwise;
  const std::size_t column = table.column("sync");
  const std::string& sync = table.text(row, column);
  if (sync != "overlap" && sync != "sequential")
    table.fail(row, column, "'" + sync + "' is not accepted: must be overlap or sequential");
  return sync == "sequential";
}

ExitCode iter_time(const Profile& profile, const ModelRules& rules, CsvTable table,
                   const std::string& output) {
  const ThroughputModel overlap(profile, {rules.reference, false}),
      sequential(profile, {rules.reference, true});
  const Columns columns(table);
  const auto whole = [&](std::size_t row, std::size_t column, std::int64_t min) {
    return table.integer(row, column, min, kMaxWhole);
  };
  const std::size_t result = result_column(&table, "iter_time_s");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string& name = table.text(row, columns.type);
    const TypeModel* type =
        (is_sequential(table, row, rules.sequential) ? sequential : overlap).find(name);
    if (!type) table.fail(row, columns.type, "the profile has no GPU type '" + name + "'");
    const std::int64_t local_batch = whole(row, columns.local_batch, 1);
    const GpuShare share{int(whole(row, columns.streams, 1)),
                         int(whole(row, columns.accum_steps, 0))};
    const int gpus = int(whole(row, columns.gpus, 1)), nodes = int(whole(row, columns.nodes, 1));
    const std::string reason = misfit(*type, name, local_batch, share.streams);
    if (reason.empty()) {
      table.set(row, result,
                type->step_s(local_batch, share, type->all_reduce(gpus, nodes, local_batch)));
      continue;
    }
    if (!table.has("reason")) table.add_column("reason");
    table.set(row, table.column("reason"), reason);
  }
  write_text_file(output, table.to_text(), "the table");
  return ExitCode::kOk;
}

}  // namespace

void add_iter_time(CLI::App& app, Run& run) {
  struct Options {
    std::string profile, cases, output;
    ModelRules rules;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("iter-time", "Predicted seconds of a step, for a table");
  add_profile_option(*command, &options->profile);
  command
      ->add_option("--cases", options->cases,
                   "CSV file with columns lbs,server,total_gpus,servers,V,GA[,sync]")
      ->required();
  add_rule_options(*command, &options->rules);
  add_output_option(*command, &options->output);
  command->callback([options, &run] {
    run = [options] {
      return iter_time(read_profile(options->profile), options->rules,
                       CsvTable::read(options->cases), options->output);
    };
  });
}

}  // namespace jabas::sim
