#include "allocator/acct_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "allocator/journal.h"

namespace jabas::acct {
namespace {

using Json = nlohmann::ordered_json;

Json known(double value) {
  return std::isfinite(value) && value >= 0 ? Json(value) : Json(nullptr);
}
Json known_time(double unix_s) { return unix_s > 0 ? Json(unix_s) : Json(nullptr); }

Json key_json(const RunKey& key) {
  return {{"cluster", key.cluster},
          {"job_id", key.job_id},
          {"user", key.user},
          {"run", key.run},
          {"restart", key.restart}};
}

Json result_json(const EpochResult& result) {
  return {{"generation", result.generation},
          {"duration_s", known(result.duration_s)},
          {"train_s", known(result.train_s)},
          {"evaluation_s", known(result.evaluation_s)},
          {"cost_usd", known(result.cost_usd)},
          {"loss", std::isfinite(result.loss) ? Json(result.loss) : Json(nullptr)},
          {"test_accuracy", known(result.test_accuracy)},
          {"steps", result.steps},
          {"samples", result.samples},
          {"global_batch", result.global_batch},
          {"emulated_steps", result.emulated_steps},
          {"emulation_overruns", result.emulation_overruns}};
}

Json switch_json(const SwitchResult& result) {
  return {{"generation", result.generation},
          {"attempt", result.attempt},
          {"pause_s", known(result.pause_s)}};
}

Json run_json(const RunSummary& run) {
  Json json = key_json(run.key);
  json.update(Json{{"state", run.state},
                   {"reason", run.reason},
                   {"epochs_done", run.epochs_done},
                   {"epochs", run.epochs},
                   {"cost_usd", known(run.cost_usd)},
                   {"duration_s", known(run.duration_s)},
                   {"test_accuracy", known(run.test_accuracy)},
                   {"emulated", run.emulated},
                   {"emulated_steps", run.emulated_steps},
                   {"emulation_overruns", run.emulation_overruns}});
  return json;
}

// The record as it stands in the journal, with what became of it.
Json decision_json(const DecisionEntry& entry) {
  Json json = key_json(entry.key);
  const Json record = Json::parse(entry.record_json);
  for (const auto& [name, value] : record.items()) {
    if (name != "v" && name != "type") json[name] = value;
  }
  json["emulated"] = entry.emulated;
  json["state"] = entry.run_state;
  json["actual"] = entry.result ? result_json(*entry.result) : Json(nullptr);
  json["switched"] = entry.switched ? switch_json(*entry.switched) : Json(nullptr);
  return json;
}

Json member_json(const MemberEntry& entry) {
  Json json = key_json(entry.key);
  json.update(Json{{"request", entry.request},
                   {"member_job_id", entry.member_job_id},
                   {"gpu_type", entry.gpu_type},
                   {"gpus", entry.gpus},
                   {"node", entry.node},
                   {"state", entry.state},
                   {"reason", entry.reason},
                   {"submit_time", known_time(entry.submit_s)},
                   {"start_time", known_time(entry.start_s)},
                   {"end_time", known_time(entry.end_s)}});
  return json;
}

Json batch_json(const BatchEntry& entry) {
  Json json = key_json(entry.key);
  json.update(Json{{"time", entry.time_s},
                   {"epoch", entry.epoch},
                   {"step", entry.step},
                   {"wanted_batch", entry.wanted_batch},
                   {"global_batch", entry.global_batch},
                   {"local_batch", entry.local_batch},
                   {"virtual_workers", entry.virtual_workers},
                   {"similarity", entry.similarity},
                   {"grad_sqr", entry.grad_sqr},
                   {"grad_var", entry.grad_var},
                   {"reason", entry.reason}});
  return json;
}

}  // namespace

std::string to_json_text(const Selection& selection, const Options& options,
                         const std::vector<std::string>& command) {
  Json list = Json::array(), runs = Json::array();
  const char* name = "decisions";
  for (const JobHistory& job : selection.jobs) {
    for (const auto& run : job.runs) runs.push_back(run_json(run));
    if (options.view == View::kMembers) {
      name = "members";
      for (const auto& entry : job.members) list.push_back(member_json(entry));
    } else if (options.view == View::kBatch) {
      name = "batches";
      for (const auto& entry : job.batches) list.push_back(batch_json(entry));
    } else {
      for (const auto& entry : job.decisions) {
        if (options.why_epoch == 0 || entry.epoch == options.why_epoch)
          list.push_back(decision_json(entry));
      }
    }
  }
  Json json = {{"meta",
                {{"plugin", {{"type", "jabasacct"}, {"name", "journal"}}},
                 {"command", command},
                 {"jabas", {{"version", JABAS_VERSION}}},
                 {"journal_version", kJournalVersion},
                 {"state", options.state}}},
               {"errors", selection.errors},
               {"warnings", selection.warnings}};
  json["runs"] = std::move(runs);
  json[name] = std::move(list);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace jabas::acct
