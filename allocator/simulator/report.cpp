#include "allocator/simulator/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "allocator/csv_table.h"
#include "allocator/decision_reason.h"

namespace jabas::sim {
namespace {

std::string rounded(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// Sets in cells, where a comma would need quotes.
std::string set_text(const GpuCounts& gpus) {
  std::string text = to_list(gpus);
  std::replace(text.begin(), text.end(), ',', '+');
  return text.empty() ? "none" : text;
}

std::vector<std::string> result_cells(const NamedResult& named) {
  const RunResult& r = named.result;
  return {named.workload,
          named.cluster,
          named.policy,
          named.objective,
          rounded(r.time_s, 1),
          rounded(r.cost, 4),
          rounded(r.steps, 0),
          rounded(r.epochs, 2),
          std::to_string(r.resizes),
          std::to_string(r.final_batch),
          std::isnan(r.final_metric) ? "" : rounded(r.final_metric, 5)};
}

const std::vector<std::string> kResultColumns = {
    "workload",   "cluster", "policy",  "objective",   "time_s",      "cost_usd",
    "iterations", "epochs",  "resizes", "final_batch", "final_metric"};

std::string epochs_text(int first, int last) {
  return std::to_string(first) + (first == last ? "" : "-" + std::to_string(last));
}

}  // namespace

std::string results_csv(const std::vector<NamedResult>& results) {
  CsvTable table("results", kResultColumns);
  for (const NamedResult& named : results) table.add_row(result_cells(named));
  return table.to_text();
}

std::string epochs_csv(const std::vector<NamedResult>& results) {
  CsvTable table("epochs", {"policy", "objective", "epoch", "batch", "gpus", "time_s", "cost_usd",
                            "iterations"});
  for (const NamedResult& named : results)
    for (const EpochRow& row : named.result.rows)
      table.add_row({named.policy, named.objective, std::to_string(row.epoch),
                     std::to_string(row.batch), set_text(row.gpus), rounded(row.time_s, 2),
                     rounded(row.cost, 4), rounded(row.steps, 1)});
  return table.to_text();
}

std::string results_json(const std::vector<NamedResult>& results,
                         const std::vector<std::string>& remarks) {
  nlohmann::ordered_json json;
  json["results"] = nlohmann::ordered_json::array();
  for (const NamedResult& named : results) {
    const RunResult& r = named.result;
    nlohmann::ordered_json run = {{"workload", named.workload},
                                  {"cluster", named.cluster},
                                  {"policy", named.policy},
                                  {"objective", named.objective},
                                  {"time_s", r.time_s},
                                  {"cost_usd", r.cost},
                                  {"iterations", r.steps},
                                  {"epochs", r.epochs},
                                  {"resizes", r.resizes},
                                  {"preemptions", r.preemptions},
                                  {"waited_s", r.waited_s},
                                  {"final_batch", r.final_batch},
                                  {"final_metric", r.final_metric},
                                  {"batch_clamped", r.clamped}};
    for (const EpochRow& row : r.rows)
      run["per_epoch"].push_back({{"epoch", row.epoch},
                                  {"batch", row.batch},
                                  {"gpus", row.gpus},
                                  {"time_s", row.time_s},
                                  {"cost_usd", row.cost},
                                  {"iterations", row.steps}});
    json["results"].push_back(std::move(run));
  }
  json["remarks"] = remarks;
  return json.dump(1) + "\n";
}

std::string plan_table(const std::vector<NamedResult>& results) {
  std::size_t width = 9;
  for (const NamedResult& named : results) width = std::max(width, named.objective.size());
  char line[256];
  std::snprintf(line, sizeof line, "%-*s %10s %10s  %s\n", int(width), "objective", "time", "cost",
                "GPUs over the epochs");
  std::string text = line;
  for (const NamedResult& named : results) {
    std::snprintf(line, sizeof line, "%-*s %10s %10s  ", int(width), named.objective.c_str(),
                  seconds_text(named.result.time_s).c_str(), cost_text(named.result.cost).c_str());
    text += line + sets_over_time(named.result) + "\n";
  }
  return text;
}

std::vector<std::string> remarks(const std::vector<NamedResult>& results, bool measured_gain) {
  std::vector<std::string> list = {
      "predicted, not measured: step times come from the profile; sets of several GPU types are "
      "modelled, no such set was measured",
      "jumps of the batch are assumed to cost no accuracy; final_metric is that of a run at the "
      "final batch all the time",
      "the cosine that simigrad and paper follow is derived from grad_sqr and grad_var"};
  if (!measured_gain)
    list.push_back("progress per step comes from the formula, not from measured progress");
  for (const NamedResult& named : results)
    if (named.result.clamped)
      list.push_back(named.policy +
                     ": a batch that was wanted is out of reach of its GPUs; the "
                     "nearest one was used");
  for (const NamedResult& named : results)
    if (named.result.preemptions > 0)
      list.push_back(named.policy + ": GPUs were taken away " +
                     std::to_string(named.result.preemptions) + " times");
  return list;
}

std::string sets_over_time(const RunResult& result) {
  std::string text;
  for (std::size_t first = 0; first < result.rows.size();) {
    std::size_t last = first;
    while (last + 1 < result.rows.size() && result.rows[last + 1].gpus == result.rows[first].gpus)
      ++last;
    const std::string epochs = epochs_text(result.rows[first].epoch, result.rows[last].epoch);
    text += (text.empty() ? "" : ", ") + set_text(result.rows[first].gpus) + " (" +
            (text.empty() ? "epochs " : "") + epochs + ")";
    first = last + 1;
  }
  return text;
}

}  // namespace jabas::sim
