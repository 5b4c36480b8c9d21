// jabas-sim solve --profile P (--cluster C --lbs b --workers N | --cases FILE.csv) [--unit u]
// [--reference-rounding [--sync S]] [--json] [-o OUT]: the fastest configuration of N virtual
// workers on given GPUs. --cases: columns N, lbs, cluster by name; throughput, iter_time_s,
// configuration, solve_ms and reason (why there is none) are added. solve_ms is the search alone,
// without reading the profile.
// Exit code kFailed when --cluster has no solution; rows of a file without one are no failure.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "allocator/cluster_text.h"
#include "allocator/sim_command.h"
#include "allocator/sim_profile.h"
#include "allocator/sim_table.h"
#include "allocator/text_file.h"

namespace jabas::sim {
namespace {

constexpr std::int64_t kMaxWorkers = 1'000'000;
constexpr int kMaxUnit = 1024;

struct Solved {
  Solution solution;
  std::vector<ShareCount> shares;
  double solve_ms = 0;
};

class Solver {
 public:
  Solver(const Profile& profile, const ModelRules& rules, int unit)
      : profile_(profile), model_(profile, rules), unit_(unit) {}

  const Profile& profile() const { return profile_; }
  Solved solve(const std::vector<ClusterEntry>& cluster, std::int64_t local_batch,
               std::int64_t workers) const {
    Solved result;
    RankedGpus gpus;
    result.solution.reason = rank_cluster(cluster, profile_, unit_, &gpus);
    if (!result.solution.reason.empty()) return result;
    const auto start = std::chrono::steady_clock::now();
    result.solution = jabas::solve(gpus, local_batch, workers, model_);
    result.solve_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (result.solution.configuration)
      result.shares = counted_shares(gpus, *result.solution.configuration);
    return result;
  }

 private:
  const Profile& profile_;
  ThroughputModel model_;
  int unit_;
};

nlohmann::ordered_json to_json(const Solved& solved) {
  nlohmann::ordered_json json;
  json["feasible"] = solved.solution.configuration.has_value();
  if (const auto& found = solved.solution.configuration) {
    json["throughput"] = found->samples_per_s();
    json["iter_time_s"] = found->step_s;
    json["configuration"] = to_text(solved.shares);
    json["shares"] = nlohmann::ordered_json::array();
    for (const ShareCount& count : solved.shares)
      json["shares"].push_back({{"type", count.type},
                                {"gpus", count.gpus},
                                {"streams", count.share.streams},
                                {"accum_steps", count.share.accum_steps}});
  } else {
    json["reason"] = solved.solution.reason;
  }
  json["solve_ms"] = solved.solve_ms;
  return json;
}

std::string to_text(const Solved& solved) {
  const auto& found = solved.solution.configuration;
  if (!found) return "infeasible: " + solved.solution.reason + "\n";
  char text[160];
  std::snprintf(text, sizeof text, "Throughput:    %.17g samples/s\nIteration:     %.17g s\n",
                found->samples_per_s(), found->step_s);
  std::string result = text;
  std::snprintf(text, sizeof text, "Solved in:     %.3f ms\n", solved.solve_ms);
  return result + "Configuration: " + to_text(solved.shares) + "\n" + text;
}

struct Options {
  std::string profile, cluster, cases, output;
  std::int64_t local_batch = 0, workers = 0;
  int unit = 1;
  ModelRules rules;
  bool json = false;
};

ExitCode solve_one(const Options& options, const Solver& solver) {
  std::vector<ClusterEntry> cluster;
  const std::string problem = parse_cluster(options.cluster, solver.profile(), &cluster);
  if (!problem.empty()) throw UsageError("--cluster: " + problem);
  const Solved solved = solver.solve(cluster, options.local_batch, options.workers);
  write_text_file(options.output, options.json ? to_json(solved).dump(2) + "\n" : to_text(solved),
                  "the solution");
  return solved.solution.configuration ? ExitCode::kOk : ExitCode::kFailed;
}

ExitCode solve_cases(const Options& options, const Solver& solver) {
  CsvTable table = CsvTable::read(options.cases);
  const std::size_t workers = table.column("N"), local_batch = table.column("lbs"),
                    cluster_text = table.column("cluster");
  std::vector<Solved> all;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::vector<ClusterEntry> cluster;
    const std::string problem =
        parse_cluster(table.text(row, cluster_text), solver.profile(), &cluster);
    if (!problem.empty()) table.fail(row, cluster_text, problem);
    all.push_back(solver.solve(cluster, table.integer(row, local_batch, 1, kMaxLocalBatch),
                               table.integer(row, workers, 0, kMaxWorkers)));
  }
  if (options.json) {
    auto json = nlohmann::ordered_json::array();
    for (std::size_t row = 0; row < table.rows(); ++row) {
      json.push_back({{"N", table.integer(row, workers, 0, kMaxWorkers)},
                      {"lbs", table.integer(row, local_batch, 1, kMaxLocalBatch)},
                      {"cluster", table.text(row, cluster_text)}});
      json.back().update(to_json(all[row]));
    }
    write_text_file(options.output, json.dump(2) + "\n", "the solutions");
    return ExitCode::kOk;
  }
  const std::size_t throughput = result_column(&table, "throughput"),
                    iter_time = result_column(&table, "iter_time_s"),
                    configuration = result_column(&table, "configuration"),
                    solve_ms = result_column(&table, "solve_ms"),
                    reason = result_column(&table, "reason");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const Solved& solved = all[row];
    if (const auto& found = solved.solution.configuration) {
      table.set(row, throughput, found->samples_per_s());
      table.set(row, iter_time, found->step_s);
    }
    table.set(row, configuration, to_text(solved.shares));
    table.set(row, solve_ms, solved.solve_ms);
    table.set(row, reason, solved.solution.reason);
  }
  write_text_file(options.output, table.to_text(), "the table");
  return ExitCode::kOk;
}

}  // namespace

void add_solve(CLI::App& app, Run& run) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("solve", "The fastest configuration of given GPUs, exactly");
  add_profile_option(*command, &options->profile);
  CLI::Option* cluster = command->add_option("--cluster", options->cluster,
                                             "GPUs, one TYPE:GPUS for each node: node0:4,node1:4");
  CLI::Option* local_batch =
      command->add_option("--lbs", options->local_batch, "Local batch of each virtual worker")
          ->check(CLI::Range(std::int64_t{1}, kMaxLocalBatch));
  CLI::Option* workers =
      command->add_option("--workers", options->workers, "Virtual workers N in the whole set")
          ->check(CLI::Range(std::int64_t{1}, kMaxWorkers));
  CLI::Option* cases =
      command->add_option("--cases", options->cases, "CSV file with columns N,lbs,cluster");
  cluster->needs(local_batch, workers)->excludes(cases);
  local_batch->needs(cluster);
  workers->needs(cluster);
  command
      ->add_option("--unit", options->unit,
                   "GPUs that share one configuration, as the reference's pairs do; 1 unless given")
      ->check(CLI::Range(1, kMaxUnit));
  add_rule_options(*command, &options->rules);
  command->add_flag("--json", options->json, "Print JSON");
  add_output_option(*command, &options->output);
  command->callback([options, &run] {
    run = [options] {
      if (options->cluster.empty() && options->cases.empty())
        throw UsageError("either --cluster with --lbs and --workers or --cases is required");
      const Profile profile = read_profile(options->profile);
      const Solver solver(profile, options->rules, options->unit);
      return options->cases.empty() ? solve_one(*options, solver) : solve_cases(*options, solver);
    };
  });
}

}  // namespace jabas::sim
