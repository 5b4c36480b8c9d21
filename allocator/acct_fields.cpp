#include "allocator/acct_fields.h"

#include <cmath>
#include <cstdio>

#include "allocator/acct_time.h"

namespace jabas::acct {
namespace {

template <typename Row>
struct Field {
  FieldInfo info;
  std::string (*text)(const Row&, const CellContext&);
};

template <typename Row>
std::vector<FieldInfo> infos(const std::vector<Field<Row>>& fields) {
  std::vector<FieldInfo> result;
  for (const auto& field : fields) result.push_back(field.info);
  return result;
}

std::string whole(std::int64_t value) { return value == 0 ? "" : std::to_string(value); }
std::string duration(double seconds) { return seconds < 0 ? "" : duration_text(seconds); }
std::string clock_time(double unix_s, const CellContext& context) {
  return unix_s <= 0 ? "" : time_text(unix_s, context.time_format);
}
std::string raw_time(double unix_s) { return unix_s <= 0 ? "" : raw_text(unix_s); }

// Fields that every kind of row has.
template <typename Row>
Field<Row> job_id() {
  return {{"JobID", -8}, [](const Row& r, const CellContext&) { return r.key.job_id; }};
}
template <typename Row>
Field<Row> run() {
  return {{"Run", 3}, [](const Row& r, const CellContext&) { return std::to_string(r.key.run); }};
}
template <typename Row>
Field<Row> restart() {
  return {{"Restart", 7},
          [](const Row& r, const CellContext&) { return std::to_string(r.key.restart); }};
}
template <typename Row>
Field<Row> cluster() {
  return {{"Cluster", 10}, [](const Row& r, const CellContext&) { return r.key.cluster; }};
}
template <typename Row>
Field<Row> user() {
  return {{"User", 9}, [](const Row& r, const CellContext&) { return r.key.user; }};
}
template <typename Row>
Field<Row> time() {
  return {{"Time", 19}, [](const Row& r, const CellContext& c) { return clock_time(r.time_s, c); }};
}
template <typename Row>
Field<Row> time_raw() {
  return {{"TimeRaw", 14}, [](const Row& r, const CellContext&) { return raw_time(r.time_s); }};
}

// A set may have been taken without any prediction.
double predicted(const DecisionEntry& d, double CandidateResult::*value) {
  return d.decision.chosen.next_epoch_s > 0 ? d.decision.chosen.*value : -1;
}
double measured(const DecisionEntry& d, double EpochResult::*value) {
  return d.result ? (*d.result).*value : -1;
}
double pause(const DecisionEntry& d) { return d.switched ? d.switched->pause_s : -1; }

std::string before_and_after(const DecisionEntry& d) {
  const std::string before = to_list(d.decision.before), after = to_list(d.decision.after);
  if (before == after) return after;
  return (before.empty() ? "none" : before) + " → " + (after.empty() ? "none" : after);
}

using D = DecisionEntry;
using C = CellContext;

const std::vector<Field<D>>& decisions() {
  static const std::vector<Field<D>> kFields = {
      job_id<D>(),
      {{"Epoch", 5}, [](const D& d, const C&) { return std::to_string(d.epoch); }},
      time<D>(),
      time_raw<D>(),
      {{"Action", -6}, [](const D& d, const C&) { return to_text(d.decision.action); }},
      {{"GPUs", -27}, [](const D& d, const C&) { return before_and_after(d); }},
      {{"Before", -13}, [](const D& d, const C&) { return to_list(d.decision.before); }},
      {{"After", -13}, [](const D& d, const C&) { return to_list(d.decision.after); }},
      {{"GBS", 5},
       [](const D& d, const C&) {
         const Configuration& planned = d.decision.chosen.configuration;
         return whole(planned.local_batch * planned.virtual_workers);
       }},
      {{"GBSEnd", 6},
       [](const D& d, const C&) { return d.result ? whole(d.result->global_batch) : ""; }},
      {{"LBS", 5},
       [](const D& d, const C&) { return whole(d.decision.chosen.configuration.local_batch); }},
      {{"VirtualWorkers", 14},
       [](const D& d, const C&) { return whole(d.decision.chosen.configuration.virtual_workers); }},
      {{"WantedGBS", 9}, [](const D& d, const C&) { return number_text(d.wanted_batch, 1); }},
      {{"Forecast", 9},
       [](const D& d, const C&) { return number_text(d.decision.forecast_batch, 1); }},
      {{"ForecastMethod", -14}, [](const D& d, const C&) { return d.decision.forecast_method; }},
      {{"PredTime", 10},
       [](const D& d, const C&) { return duration(predicted(d, &CandidateResult::next_epoch_s)); }},
      {{"PredTimeRaw", 11},
       [](const D& d, const C&) { return raw_text(predicted(d, &CandidateResult::next_epoch_s)); }},
      {{"ActualTime", 10},
       [](const D& d, const C&) { return duration(measured(d, &EpochResult::duration_s)); }},
      {{"ActualTimeRaw", 13},
       [](const D& d, const C&) { return raw_text(measured(d, &EpochResult::duration_s)); }},
      {{"TrainTime", 10},
       [](const D& d, const C&) { return duration(measured(d, &EpochResult::train_s)); }},
      {{"TrainTimeRaw", 12},
       [](const D& d, const C&) { return raw_text(measured(d, &EpochResult::train_s)); }},
      {{"EvalTime", 10},
       [](const D& d, const C&) { return duration(measured(d, &EpochResult::evaluation_s)); }},
      {{"EvalTimeRaw", 11},
       [](const D& d, const C&) { return raw_text(measured(d, &EpochResult::evaluation_s)); }},
      {{"RestTime", 10},
       [](const D& d, const C&) { return duration(predicted(d, &CandidateResult::rest_s)); }},
      {{"RestTimeRaw", 11},
       [](const D& d, const C&) { return raw_text(predicted(d, &CandidateResult::rest_s)); }},
      {{"RestCost", 10},
       [](const D& d, const C&) { return cost_cell(predicted(d, &CandidateResult::rest_cost)); }},
      {{"Cost", 8},
       [](const D& d, const C&) { return cost_cell(measured(d, &EpochResult::cost_usd)); }},
      {{"CostRaw", 10},
       [](const D& d, const C&) { return raw_text(measured(d, &EpochResult::cost_usd)); }},
      {{"Pause", 9},
       [](const D& d, const C&) { return pause(d) < 0 ? "" : short_duration_text(pause(d)); }},
      {{"PauseRaw", 9}, [](const D& d, const C&) { return raw_text(pause(d)); }},
      {{"Objective", -13}, [](const D& d, const C&) { return d.objective; }},
      {{"Generation", 10},
       [](const D& d, const C&) {
         if (d.switched) return whole(d.switched->generation);
         return d.result ? whole(d.result->generation) : "";
       }},
      {{"Accuracy", 8},
       [](const D& d, const C&) {
         return number_text(measured(d, &EpochResult::test_accuracy), 4);
       }},
      {{"Loss", 8},
       [](const D& d, const C&) { return d.result ? number_text(d.result->loss, 4) : ""; }},
      {{"Steps", 7}, [](const D& d, const C&) { return d.result ? whole(d.result->steps) : ""; }},
      {{"Samples", 9},
       [](const D& d, const C&) { return d.result ? whole(d.result->samples) : ""; }},
      {{"Free", -13}, [](const D& d, const C&) { return to_list(d.free); }},
      {{"Prices", -20}, [](const D& d, const C&) { return prices_text(d.prices); }},
      {{"PricesSource", -14}, [](const D& d, const C&) { return d.prices_source; }},
      {{"Emulated", 8},
       [](const D& d, const C&) -> std::string { return d.emulated ? "yes" : "no"; }},
      {{"State", 10}, [](const D& d, const C&) { return d.run_state; }},
      run<D>(),
      restart<D>(),
      cluster<D>(),
      user<D>(),
      {{"Certificate", -40}, [](const D& d, const C&) { return d.decision.certificate; }},
      {{"Reason", -60}, [](const D& d, const C&) { return d.decision.reason; }},
  };
  return kFields;
}

using M = MemberEntry;

// Of a job that still waits: up to now, unless its run is over.
double waited(const M& m, const C& c) {
  if (m.submit_s <= 0) return -1;
  if (m.start_s > 0) return m.start_s - m.submit_s;
  if (m.end_s > 0) return m.end_s - m.submit_s;
  return m.run_over ? -1 : c.now_s - m.submit_s;
}
double elapsed(const M& m, const C& c) {
  if (m.start_s <= 0) return -1;
  if (m.end_s > 0) return m.end_s - m.start_s;
  return m.run_over ? -1 : c.now_s - m.start_s;
}

const std::vector<Field<M>>& member_jobs() {
  static const std::vector<Field<M>> kFields = {
      job_id<M>(),
      {{"Member", -8}, [](const M& m, const C&) { return m.member_job_id; }},
      {{"Request", 7}, [](const M& m, const C&) { return std::to_string(m.request); }},
      {{"Type", -10}, [](const M& m, const C&) { return m.gpu_type; }},
      {{"GPUs", 4}, [](const M& m, const C&) { return std::to_string(m.gpus); }},
      {{"Node", -10}, [](const M& m, const C&) { return m.node; }},
      {{"State", -10}, [](const M& m, const C&) { return m.state; }},
      {{"Submit", 19}, [](const M& m, const C& c) { return clock_time(m.submit_s, c); }},
      {{"SubmitRaw", 14}, [](const M& m, const C&) { return raw_time(m.submit_s); }},
      {{"Start", 19}, [](const M& m, const C& c) { return clock_time(m.start_s, c); }},
      {{"StartRaw", 14}, [](const M& m, const C&) { return raw_time(m.start_s); }},
      {{"End", 19}, [](const M& m, const C& c) { return clock_time(m.end_s, c); }},
      {{"EndRaw", 14}, [](const M& m, const C&) { return raw_time(m.end_s); }},
      {{"Wait", 10}, [](const M& m, const C& c) { return duration(waited(m, c)); }},
      {{"WaitRaw", 8}, [](const M& m, const C& c) { return raw_text(waited(m, c)); }},
      {{"Elapsed", 10}, [](const M& m, const C& c) { return duration(elapsed(m, c)); }},
      {{"ElapsedRaw", 10}, [](const M& m, const C& c) { return raw_text(elapsed(m, c)); }},
      run<M>(),
      restart<M>(),
      cluster<M>(),
      user<M>(),
      {{"Reason", -40}, [](const M& m, const C&) { return m.reason; }},
  };
  return kFields;
}

using B = BatchEntry;

const std::vector<Field<B>>& batch_changes() {
  static const std::vector<Field<B>> kFields = {
      job_id<B>(),
      {{"Epoch", 5}, [](const B& b, const C&) { return std::to_string(b.epoch); }},
      {{"Step", 7}, [](const B& b, const C&) { return std::to_string(b.step); }},
      time<B>(),
      time_raw<B>(),
      {{"GBS", 6}, [](const B& b, const C&) { return whole(b.global_batch); }},
      {{"Bar", -24},
       [](const B& b, const C& c) {
         return bar(static_cast<double>(b.global_batch), static_cast<double>(c.largest_batch), 24);
       }},
      {{"WantedGBS", 9}, [](const B& b, const C&) { return number_text(b.wanted_batch, 1); }},
      {{"LBS", 5}, [](const B& b, const C&) { return whole(b.local_batch); }},
      {{"VirtualWorkers", 14}, [](const B& b, const C&) { return whole(b.virtual_workers); }},
      {{"Similarity", 10},
       [](const B& b, const C&) { return b.similarity == 0 ? "" : number_text(b.similarity, 3); }},
      {{"GradSqr", 10},
       [](const B& b, const C&) { return b.grad_sqr == 0 ? "" : raw_text(b.grad_sqr); }},
      {{"GradVar", 10},
       [](const B& b, const C&) { return b.grad_var == 0 ? "" : raw_text(b.grad_var); }},
      run<B>(),
      restart<B>(),
      cluster<B>(),
      user<B>(),
      {{"Reason", -40}, [](const B& b, const C&) { return b.reason; }},
  };
  return kFields;
}

}  // namespace

const char* const kDecisionFormat =
    "JobID,Epoch,Time,Action,GPUs,GBS,PredTime,ActualTime,Cost,Pause,Reason";
const char* const kMemberFormat = "JobID,Member,Type,GPUs,Node,Submit,Start,End,Wait,State,Reason";
const char* const kBatchFormat =
    "JobID,Epoch,Step,GBS,Bar,WantedGBS,LBS,VirtualWorkers,Similarity,Reason";

const std::vector<FieldInfo>& decision_fields() {
  static const std::vector<FieldInfo> kInfos = infos(decisions());
  return kInfos;
}
const std::vector<FieldInfo>& member_fields() {
  static const std::vector<FieldInfo> kInfos = infos(member_jobs());
  return kInfos;
}
const std::vector<FieldInfo>& batch_fields() {
  static const std::vector<FieldInfo> kInfos = infos(batch_changes());
  return kInfos;
}

std::string cell(const DecisionEntry& entry, std::size_t field, const CellContext& context) {
  return decisions().at(field).text(entry, context);
}
std::string cell(const MemberEntry& entry, std::size_t field, const CellContext& context) {
  return member_jobs().at(field).text(entry, context);
}
std::string cell(const BatchEntry& entry, std::size_t field, const CellContext& context) {
  return batch_changes().at(field).text(entry, context);
}

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "nan";
  if (value < 0) return "";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}
std::string cost_cell(double usd) { return usd < 0 ? "" : number_text(usd, 4); }
std::string raw_text(double value) {
  if (value < 0) return "";
  char text[64];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text;
}
std::string prices_text(const std::map<std::string, double>& prices) {
  std::string text;
  for (const auto& [type, price] : prices) {
    text += (text.empty() ? "" : ",") + type + "=" + raw_text(price);
  }
  return text;
}

}  // namespace jabas::acct
