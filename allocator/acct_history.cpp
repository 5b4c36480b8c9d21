#include "allocator/acct_history.h"

#include <algorithm>

#include "allocator/acct_record.h"
#include "allocator/journal.h"

namespace jabas::acct {
namespace {

CandidateResult read_candidate(const Record& record) {
  CandidateResult result;
  result.gpus = record.counts("gpus");
  result.next_epoch_s = record.number("next_epoch_s");
  result.rest_s = record.number("rest_s");
  result.rest_cost = record.number("rest_cost");
  result.score = record.number("score");
  result.batch_clamped = record.flag("batch_clamped");
  const Record configuration = record.object("configuration");
  result.configuration.local_batch = configuration.count("local_batch");
  result.configuration.virtual_workers = configuration.count("virtual_workers");
  result.configuration.step_s = configuration.number("step_s");
  for (const std::vector<int>& share : configuration.rows("shares")) {
    if (share.size() != 2) configuration.fail("shares", "pairs [streams, accumulation steps]");
    result.configuration.shares.push_back({share[0], share[1]});
  }
  return result;
}

Decision::Action read_action(const Record& record) {
  const std::string text = record.text("action");
  for (const auto action :
       {Decision::Action::kStart, Decision::Action::kKeep, Decision::Action::kGrow,
        Decision::Action::kShrink, Decision::Action::kSwap}) {
    if (to_text(action) == text) return action;
  }
  record.fail("action", "start, keep, grow, shrink or swap");
}

Decision read_decision(const Record& record) {
  Decision decision;
  decision.action = read_action(record);
  decision.before = record.counts("before");
  decision.after = record.counts("after");
  decision.chosen = read_candidate(record.object("chosen"));
  decision.present = read_candidate(record.object("present"));
  for (const Record& candidate : record.objects("best")) {
    decision.best.push_back(read_candidate(candidate));
  }
  decision.rejected = record.counts("rejected");
  decision.forecast_batch = record.number("forecast_batch");
  decision.forecast_method = record.text("forecast_method");
  decision.reason = record.text("reason");
  decision.certificate = record.text("certificate");
  return decision;
}

EpochResult read_epoch(const Record& record) {
  EpochResult result;
  result.generation = record.integer("generation");
  result.duration_s = record.number("duration_s", -1);
  result.train_s = record.number("train_s", -1);
  result.evaluation_s = record.number("evaluation_s", -1);
  result.cost_usd = record.number("cost_usd", -1);
  result.predicted_s = record.number("predicted_s", -1);
  result.loss = record.number("loss", result.loss);
  result.test_accuracy = record.number("test_accuracy", -1);
  result.steps = record.count("steps");
  result.samples = record.count("samples");
  result.global_batch = record.count("global_batch");
  result.emulated_steps = record.count("emulated_steps");
  result.emulation_overruns = record.count("emulation_overruns");
  return result;
}

// Goes through the records in order and puts them together.
class HistoryBuilder {
 public:
  explicit HistoryBuilder(JobHistory history) : history_(std::move(history)) {}

  void take(const Record& record, const std::string& line) {
    const std::string type = record.text("type");
    key_.cluster = history_.cluster;
    key_.job_id = history_.job_id;
    key_.run = record.integer("run");
    key_.restart = record.integer("restart");
    history_.last_time_s = record.number("time");
    if (type == record::kJob) job(record);
    if (type == record::kTrain) train(record);
    if (type == record::kDecision) decision(record, line);
    if (type == record::kRequest) member(record).state = "requested";
    if (type == record::kSubmitted) {
      member(record).member_job_id = record.text("job_id");
      member(record).state = "submitted";
    }
    if (type == record::kSubmitFailed) {
      member(record).state = "refused";
      member(record).reason = record.text("reason");
    }
    if (type == record::kMember) member_state(record);
    if (type == record::kSwitched) switched(record);
    if (type == record::kBatch) batch(record);
    if (type == record::kEpoch) epoch(record);
    if (type == record::kEnd) end(record);
  }

  JobHistory done() { return std::move(history_); }

 private:
  bool same_run(const RunKey& key) const {
    return key.run == key_.run && key.restart == key_.restart;
  }

  void job(const Record& record) {
    if (record.has("cluster")) history_.cluster = key_.cluster = record.text("cluster");
    if (record.has("job_id")) history_.job_id = key_.job_id = record.text("job_id");
    key_.user = record.text("user");
    // A requeued job starts its run again; the one that was cut off will never say how it ended.
    for (auto& entry : history_.runs) {
      if (entry.key.restart < key_.restart && entry.state == "running") close(entry.key, "lost");
    }
  }
  void train(const Record& record) {
    history_.running = true;
    RunSummary& summary = history_.runs.emplace_back();
    summary.key = key_;
    summary.epochs = record.integer("epochs");
    summary.emulated = record.text("device") == "emulated";
  }
  // Of the record at hand; a journal without its `train` record has a summary all the same.
  RunSummary& summary() {
    for (auto& entry : history_.runs) {
      if (same_run(entry.key)) return entry;
    }
    history_.runs.emplace_back().key = key_;
    return history_.runs.back();
  }
  void close(const RunKey& key, const std::string& state) {
    const auto same = [&](const RunKey& other) {
      return other.run == key.run && other.restart == key.restart;
    };
    for (auto& entry : history_.runs) {
      if (same(entry.key)) entry.state = state;
    }
    for (auto& entry : history_.decisions) {
      if (same(entry.key)) entry.run_state = state;
    }
    for (auto& entry : history_.members) {
      if (same(entry.key)) entry.run_over = true;
    }
  }
  void decision(const Record& record, const std::string& line) {
    record.require("epoch");
    record.require("action");
    DecisionEntry entry;
    entry.key = key_;
    entry.time_s = record.number("time");
    entry.epoch = record.integer("epoch");
    entry.epochs = summary().epochs;
    entry.decision = read_decision(record);
    entry.objective = record.text("objective");
    entry.prices_source = record.text("prices_source");
    entry.free = record.counts("free");
    entry.prices = record.numbers("prices");
    entry.wanted_batch = record.number("wanted_batch");
    summary().emulated = summary().emulated || record.flag("emulated");
    entry.emulated = summary().emulated;
    entry.notes = record.texts("notes");
    entry.run_state = "running";
    entry.record_json = line;
    history_.decisions.push_back(std::move(entry));
  }
  MemberEntry& member(const Record& record) {
    record.require("request");
    const int request = record.integer("request");
    const auto found = std::find_if(
        history_.members.begin(), history_.members.end(), [&](const MemberEntry& entry) {
          return entry.request == request && entry.key.restart == key_.restart;
        });
    if (found != history_.members.end()) return *found;
    MemberEntry& entry = history_.members.emplace_back();
    entry.key = key_;
    entry.request = request;
    entry.gpu_type = record.text("gpu_type");
    entry.gpus = record.integer("gpus");
    return entry;
  }
  void member_state(const Record& record) {
    MemberEntry& entry = member(record);
    entry.state = record.text("state");
    entry.reason = record.text("reason");
    if (record.has("job_id")) entry.member_job_id = record.text("job_id");
    if (record.has("node")) entry.node = record.text("node");
    const auto update = [&](const char* name, double& value) {
      if (record.number(name) > 0) value = record.number(name);
    };
    update("submit_time", entry.submit_s);
    update("start_time", entry.start_s);
    update("end_time", entry.end_s);
  }
  void switched(const Record& record) {
    const int epoch = record.integer("epoch");
    // A recovery inside the epoch switches too; the boundary's own switch came first.
    for (auto& entry : history_.decisions) {
      if (!same_run(entry.key) || entry.epoch != epoch || entry.switched) continue;
      entry.switched = SwitchResult{record.integer("generation"), record.integer("attempt"),
                                    record.number("pause_s", -1)};
    }
  }
  void batch(const Record& record) {
    BatchEntry entry;
    entry.key = key_;
    entry.time_s = record.number("time");
    entry.step = record.count("step");
    entry.epoch = record.integer("epoch");
    entry.wanted_batch = record.number("wanted_batch");
    entry.global_batch = record.count("global_batch");
    entry.local_batch = record.count("local_batch");
    entry.virtual_workers = record.count("virtual_workers");
    entry.similarity = record.number("similarity");
    entry.grad_sqr = record.number("grad_sqr");
    entry.grad_var = record.number("grad_var");
    entry.reason = record.text("reason");
    history_.batches.push_back(std::move(entry));
  }
  void epoch(const Record& record) {
    const int epoch = record.integer("epoch");
    const EpochResult result = read_epoch(record);
    for (auto& entry : history_.decisions) {
      if (!same_run(entry.key) || entry.epoch != epoch) continue;
      entry.result = result;
    }
    summary().epochs_done = epoch;
    summary().emulated_steps = result.emulated_steps;
    summary().emulation_overruns = result.emulation_overruns;
  }
  void end(const Record& record) {
    history_.running = false;
    RunSummary& run = summary();
    run.reason = record.text("reason");
    run.epochs_done = record.integer("epochs");
    run.cost_usd = record.number("cost_usd", -1);
    run.duration_s = record.number("duration_s", -1);
    run.test_accuracy = record.number("test_accuracy", -1);
    run.emulated_steps = record.count("emulated_steps");
    run.emulation_overruns = record.count("emulation_overruns");
    close(key_, record.text("state"));
  }

  JobHistory history_;
  RunKey key_;
};

}  // namespace

JobHistory read_history(const std::string& path, const std::string& cluster,
                        const std::string& job_id) {
  const JournalContent content = read_journal(path);
  JobHistory history;
  history.path = path;
  history.cluster = cluster;
  history.job_id = job_id;
  history.torn_tail = content.torn_tail;
  HistoryBuilder builder(std::move(history));
  for (std::size_t i = 0; i < content.records.size(); ++i) {
    const std::string where = path + ": line " + std::to_string(i + 1);
    builder.take(Record::parse(content.records[i], where), content.records[i]);
  }
  return builder.done();
}

}  // namespace jabas::acct
