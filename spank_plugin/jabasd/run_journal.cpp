#include "spank_plugin/jabasd/run_journal.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "allocator/error.h"

namespace jabas {
namespace {

using Json = nlohmann::ordered_json;

Json json(const GpuCounts& gpus) {
  return Json(normalized(gpus)).is_null() ? Json::object() : Json(normalized(gpus));
}

Json json(const std::map<std::string, double>& values) {
  return values.empty() ? Json::object() : Json(values);
}

}  // namespace

double unix_now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool RunJournal::append(const char* type, const std::string& fields_json) {
  try {
    writer_.append(unix_now_s(), type, fields_json);
    broken_ = false;
    return true;
  } catch (const IoError& error) {
    if (!broken_)
      spdlog::error("journal: {}; records are lost until it can be written again", error.what());
    broken_ = true;
    return false;
  }
}

bool RunJournal::job(const JobRecord& record) {
  return append(record::kJob, Json{{"cluster", record.cluster},
                                   {"job_id", record.job_id},
                                   {"user", record.user},
                                   {"host", record.host},
                                   {"port", record.port},
                                   {"pid", record.pid},
                                   {"incarnation", record.incarnation},
                                   {"options", record.options}}
                                  .dump());
}

bool RunJournal::train(const TrainRecord& record) {
  const TrainingSpec& spec = record.spec;
  return append(record::kTrain, Json{{"arguments", record.hello.arguments},
                                     {"epochs", spec.epochs},
                                     {"train_samples", spec.train_samples},
                                     {"batch_min", spec.batch_min},
                                     {"batch_max", spec.batch_max},
                                     {"adapt_every", spec.adapt_every},
                                     {"batch_policy", spec.batch_policy},
                                     {"device", spec.device},
                                     {"model", spec.model},
                                     {"base", json(record.base)},
                                     {"prices", json(record.prices.usd_per_gpu_h)},
                                     {"prices_source", record.prices.source},
                                     {"profile_source", record.profile_source}}
                                    .dump());
}

bool RunJournal::decision(const DecisionRecord& record) {
  Json fields{{"epoch", record.epoch}, {"objective", record.objective}};
  fields.update(Json::parse(to_json_text(record.decision)));
  fields["epoch"] = record.epoch;
  fields["free"] = json(record.free);
  fields["prices"] = json(record.prices.usd_per_gpu_h);
  fields["prices_source"] = record.prices.source;
  fields["wanted_batch"] = record.wanted_batch;
  fields["emulated"] = record.emulated;
  fields["notes"] = record.notes;
  return append(record::kDecision, fields.dump());
}

bool RunJournal::request(const Member& member, const std::string& job_name) {
  return append(record::kRequest, Json{{"request", member.request},
                                       {"gpu_type", member.gpu_type},
                                       {"gpus", member.gpus},
                                       {"job_name", job_name}}
                                      .dump());
}

bool RunJournal::submitted(const Member& member) {
  return append(record::kSubmitted,
                Json{{"request", member.request}, {"job_id", member.job_id}}.dump());
}

bool RunJournal::submit_failed(const Member& member) {
  return append(record::kSubmitFailed,
                Json{{"request", member.request}, {"reason", member.reason}}.dump());
}

bool RunJournal::member(const Member& member, const std::string& state) {
  return append(record::kMember, Json{{"request", member.request},
                                      {"job_id", member.job_id},
                                      {"gpu_type", member.gpu_type},
                                      {"gpus", member.gpus},
                                      {"node", member.node},
                                      {"state", state},
                                      {"reason", member.reason},
                                      {"submit_time", member.submit_s},
                                      {"start_time", member.start_s},
                                      {"end_time", member.end_s}}
                                     .dump());
}

bool RunJournal::prepare(const Prepare& prepare) {
  Json members = Json::array();
  for (const PlanMember& member : prepare.members) {
    members.push_back(
        {{"worker_id", member.worker_id}, {"gpu_type", member.gpu_type}, {"host", member.host}});
  }
  return append(record::kPrepare, Json{{"generation", prepare.generation},
                                       {"attempt", prepare.attempt},
                                       {"members", members},
                                       {"first", prepare.first}}
                                      .dump());
}

bool RunJournal::commit(int generation, int attempt) {
  return append(record::kCommit, Json{{"generation", generation}, {"attempt", attempt}}.dump());
}

bool RunJournal::switched(const GenerationEvent& event, const GpuCounts& before,
                          const GpuCounts& after) {
  return append(record::kSwitched, Json{{"generation", event.generation},
                                        {"attempt", event.attempt},
                                        {"epoch", event.epoch},
                                        {"before", json(before)},
                                        {"after", json(after)},
                                        {"pause_s", event.pause_s}}
                                       .dump());
}

bool RunJournal::switch_failed(const GenerationEvent& event) {
  return append(record::kSwitchFailed, Json{{"generation", event.generation},
                                            {"attempt", event.attempt},
                                            {"reason", to_text(event.fact) + ": " + event.text}}
                                           .dump());
}

bool RunJournal::batch(const BatchDecision& decision) {
  return append(record::kBatch, Json{{"step", decision.step},
                                     {"epoch", decision.epoch},
                                     {"wanted_batch", decision.wanted_batch},
                                     {"global_batch", decision.global_batch},
                                     {"local_batch", decision.local_batch},
                                     {"virtual_workers", decision.virtual_workers},
                                     {"similarity", decision.similarity},
                                     {"grad_sqr", decision.grad_sqr},
                                     {"grad_var", decision.grad_var},
                                     {"reason", decision.reason}}
                                    .dump());
}

bool RunJournal::epoch(const EpochRecord& record) {
  const EpochReport& report = record.report;
  return append(record::kEpoch, Json{{"epoch", report.epoch},
                                     {"generation", report.generation},
                                     {"duration_s", record.duration_s},
                                     {"train_s", report.train_s},
                                     {"evaluation_s", report.evaluation_s},
                                     {"steps", report.steps},
                                     {"samples", report.samples},
                                     {"loss", report.loss},
                                     {"test_accuracy", report.test_accuracy},
                                     {"global_batch", report.global_batch},
                                     {"wanted_batch", report.wanted_batch},
                                     {"gpus", json(record.gpus)},
                                     {"cost_usd", record.cost_usd},
                                     {"predicted_s", record.predicted_s},
                                     {"forecast_batch", record.forecast_batch},
                                     {"emulated_steps", report.emulated_steps},
                                     {"emulation_overruns", report.emulation_overruns}}
                                    .dump());
}

// The message's own fields.
bool RunJournal::calibration(const Calibration& calibration) {
  Json fields = Json::parse(encode({0, calibration}));
  for (const char* key : {"v", "type", "seq"}) fields.erase(key);
  return append(record::kCalibration, fields.dump());
}

bool RunJournal::correction(const CorrectionRecord& correction) {
  return append(record::kCorrection, Json{{"gpu_type", correction.gpu_type},
                                          {"factor", correction.factor},
                                          {"deviation", correction.deviation},
                                          {"reports", correction.reports}}
                                         .dump());
}

bool RunJournal::warning(const std::string& text) {
  spdlog::warn("{}", text);
  return append(record::kWarning, Json{{"text", text}}.dump());
}

bool RunJournal::end(const EndRecord& record) {
  return append(record::kEnd, Json{{"state", record.state},
                                   {"reason", record.reason},
                                   {"epochs", record.epochs},
                                   {"cost_usd", record.cost_usd},
                                   {"duration_s", record.duration_s},
                                   {"test_accuracy", record.test_accuracy},
                                   {"emulated_steps", record.emulated_steps},
                                   {"emulation_overruns", record.emulation_overruns}}
                                  .dump());
}

}  // namespace jabas
