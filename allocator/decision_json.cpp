// The JSON forms of a decision's input and result (docs/journal.md, docs/profile.md for the profile
// inside).
#include <limits>
#include <nlohmann/json.hpp>

#include "allocator/csv_table.h"
#include "allocator/error.h"
#include "allocator/json_reader.h"
#include "allocator/option_text.h"
#include "allocator/scaling_policy.h"

namespace jabas {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t kMaxCount = 1'000'000;
constexpr std::int64_t kMaxSamples = std::int64_t{1} << 50;
// Far above anything real, and small enough that no product of them overflows.
constexpr double kMaxDuration = 1e10, kMaxMoney = 1e12, kMaxNoise = 1e60, kMaxNoiseRatio = 1e30;

GpuCounts read_counts(JsonReader reader) {
  GpuCounts counts;
  for (const std::string& type : reader.keys())
    counts[type] = int(reader.integer(type, 0, kMaxCount));
  return counts;
}

TypeSupply read_supply(JsonReader reader) {
  TypeSupply supply;
  supply.min = int(reader.integer_or("min", 0, 0, kMaxCount));
  supply.max = int(reader.integer("max", supply.min, kMaxCount));
  supply.base = int(reader.integer_or("base", 0, 0, supply.max));
  supply.free = int(reader.integer("free", 0, kMaxCount));
  supply.wait_s = reader.number_or("wait_s", 0, 0, kMaxDuration);
  supply.price_per_h = reader.number("price_per_h", 0, kMaxMoney);
  reader.finish();
  return supply;
}

BatchRules read_batch(JsonReader reader) {
  BatchRules rules;
  rules.batch_min = reader.integer("batch_min", 1, kMaxGlobalBatch);
  rules.batch_max = reader.integer("batch_max", rules.batch_min, kMaxGlobalBatch);
  rules.fixed_local_batch = reader.integer_or("fixed_local_batch", 0, 0, kMaxLocalBatch);
  rules.current_local_batch = reader.integer_or("current_local_batch", 0, 0, kMaxLocalBatch);
  rules.needs_two_workers = reader.flag_or("needs_two_workers", rules.needs_two_workers);
  reader.finish();
  return rules;
}

Objective read_objective(JsonReader& reader) {
  const std::string text = reader.text("objective");
  try {
    return parse_objective(text);
  } catch (const UsageError& error) {
    reader.fail("objective", error.what());
  }
}

BatchPolicy read_batch_policy(JsonReader& reader) {
  const std::string text = reader.text_or("batch_policy", "paper");
  for (const BatchPolicy policy :
       {BatchPolicy::kPaper, BatchPolicy::kSimilarity, BatchPolicy::kGoodput})
    if (to_text(policy) == text) return policy;
  reader.fail("batch_policy", "'" + text + "' is not paper, similarity or goodput");
}

// Values in [min, max] by step.
std::vector<std::pair<std::int64_t, double>> read_history(JsonReader& reader,
                                                          const std::string& key, double min,
                                                          double max) {
  std::vector<std::pair<std::int64_t, double>> history;
  if (!reader.has(key)) return history;
  for (const auto& [step, value] : reader.pairs(key)) {
    if (step > double(kMaxSamples)) reader.fail(key, std::to_string(step) + " is not a step");
    if (value < min || value > max)
      reader.fail(key, "the value at step " + std::to_string(std::int64_t(step)) + ", " +
                           shortest_text(value) + ", is not in " + shortest_text(min) + ".." +
                           shortest_text(max));
    history.emplace_back(std::int64_t(step), value);
  }
  return history;
}

ordered_json to_json(const GpuCounts& gpus) {
  ordered_json json = ordered_json::object();
  for (const auto& [type, count] : normalized(gpus)) json[type] = count;
  return json;
}

ordered_json to_json(const TypeSupply& s) {
  return {{"min", s.min},   {"max", s.max},       {"base", s.base},
          {"free", s.free}, {"wait_s", s.wait_s}, {"price_per_h", s.price_per_h}};
}

ordered_json to_json(const BatchRules& rules) {
  return {{"batch_min", rules.batch_min},
          {"batch_max", rules.batch_max},
          {"fixed_local_batch", rules.fixed_local_batch},
          {"current_local_batch", rules.current_local_batch},
          {"needs_two_workers", rules.needs_two_workers}};
}

ordered_json to_json(const Configuration& configuration) {
  ordered_json shares = ordered_json::array();
  for (const GpuShare& share : configuration.shares)
    shares.push_back(ordered_json::array({share.streams, share.accum_steps}));
  return {{"local_batch", configuration.local_batch},
          {"virtual_workers", configuration.virtual_workers},
          {"shares", std::move(shares)},
          {"step_s", configuration.step_s}};
}

ordered_json to_json(const CandidateResult& result) {
  return {{"gpus", to_json(result.gpus)},
          {"next_epoch_s", result.next_epoch_s},
          {"rest_s", result.rest_s},
          {"rest_cost", result.rest_cost},
          {"score", result.score},
          {"batch_clamped", result.batch_clamped},
          {"configuration", to_json(result.configuration)}};
}

}  // namespace

DecisionState state_from_json(const std::string& text) {
  JsonReader reader = JsonReader::parse(text, "state");
  DecisionState state;
  state.now_s = reader.number_or("now_s", 0);
  state.start = reader.flag_or("start", false);
  state.epochs = int(reader.integer("epochs", 1, kMaxCount));
  state.next_epoch = int(reader.integer("next_epoch", 1, state.epochs));
  state.epoch_samples = reader.integer("epoch_samples", 1, kMaxSamples);
  state.wanted_batch = reader.number("wanted_batch", 1, double(kMaxGlobalBatch));
  state.rest_progress =
      reader.number_or("rest_progress", state.rest_progress, 0, double(kMaxSamples));
  state.elapsed_s = reader.number_or("elapsed_s", state.elapsed_s, 0, kMaxDuration);
  state.spent_cost = reader.number_or("spent_cost", state.spent_cost, 0, kMaxMoney);
  state.batch_policy = read_batch_policy(reader);
  state.batch_history = read_history(reader, "batch_history", 1, double(kMaxGlobalBatch));
  state.adapt_every = reader.integer_or("adapt_every", state.adapt_every, 1, kMaxSamples);
  state.batch = read_batch(reader.object("batch"));
  state.adaptive = reader.flag_or("adaptive", state.adaptive);
  state.grad_sqr = reader.number_or("grad_sqr", 0, 0, kMaxNoise);
  state.grad_var = reader.number_or("grad_var", 0, 0, kMaxNoise);
  state.noise_history = read_history(reader, "noise_history", 0, kMaxNoiseRatio);
  state.held = read_counts(reader.object("held"));
  JsonReader supply = reader.object("supply");
  for (const std::string& type : supply.keys())
    state.supply[type] = read_supply(supply.object(type));
  for (const auto& [type, count] : state.held)
    if (count > 0 && !state.supply.contains(type))
      reader.fail("held." + type, "is not a type of supply");
  state.unit = int(reader.integer_or("unit", state.unit, 1, kMaxCount));
  state.objective = read_objective(reader);
  state.hysteresis = reader.number_or("hysteresis", state.hysteresis, 0, 1);
  state.min_interval_epochs =
      int(reader.integer_or("min_interval_epochs", state.min_interval_epochs, 0, kMaxCount));
  state.epochs_since_change =
      int(reader.integer_or("epochs_since_change", state.epochs_since_change, 0, kMaxCount));
  state.epochs_per_stay = reader.number_or("epochs_per_stay", state.epochs_per_stay, 0, kMaxCount);
  state.resize_pause_s = reader.number_or("resize_pause_s", state.resize_pause_s, 0, kMaxDuration);
  state.startup_s = reader.number_or("startup_s", state.startup_s, 0, kMaxDuration);
  state.evaluation_s = reader.number_or("evaluation_s", state.evaluation_s, 0, kMaxDuration);
  state.minimum_billing_s =
      reader.number_or("minimum_billing_s", state.minimum_billing_s, 0, kMaxDuration);
  state.rules.reference = reader.flag_or("reference_rounding", false);
  state.rules.sequential = reader.flag_or("sequential", false);
  state.profile = profile_from_json(reader.object("profile").dump(), "state: profile");
  reader.finish();
  return state;
}

std::string to_json_text(const DecisionState& state) {
  ordered_json supply = ordered_json::object();
  for (const auto& [type, entry] : state.supply) supply[type] = to_json(entry);
  const ordered_json json = {{"now_s", state.now_s},
                             {"start", state.start},
                             {"next_epoch", state.next_epoch},
                             {"epochs", state.epochs},
                             {"epoch_samples", state.epoch_samples},
                             {"wanted_batch", state.wanted_batch},
                             {"rest_progress", state.rest_progress},
                             {"elapsed_s", state.elapsed_s},
                             {"spent_cost", state.spent_cost},
                             {"batch_policy", to_text(state.batch_policy)},
                             {"batch_history", state.batch_history},
                             {"adapt_every", state.adapt_every},
                             {"batch", to_json(state.batch)},
                             {"adaptive", state.adaptive},
                             {"grad_sqr", state.grad_sqr},
                             {"grad_var", state.grad_var},
                             {"noise_history", state.noise_history},
                             {"held", to_json(state.held)},
                             {"supply", std::move(supply)},
                             {"unit", state.unit},
                             {"objective", to_text(state.objective)},
                             {"hysteresis", state.hysteresis},
                             {"min_interval_epochs", state.min_interval_epochs},
                             {"epochs_since_change", state.epochs_since_change},
                             {"epochs_per_stay", state.epochs_per_stay},
                             {"resize_pause_s", state.resize_pause_s},
                             {"startup_s", state.startup_s},
                             {"evaluation_s", state.evaluation_s},
                             {"minimum_billing_s", state.minimum_billing_s},
                             {"reference_rounding", state.rules.reference},
                             {"sequential", state.rules.sequential},
                             {"profile", ordered_json::parse(to_json_text(state.profile))}};
  return json.dump(1);
}

std::string to_json_text(const Decision& decision) {
  ordered_json best = ordered_json::array();
  for (const CandidateResult& result : decision.best) best.push_back(to_json(result));
  const ordered_json json = {{"action", to_text(decision.action)},
                             {"before", to_json(decision.before)},
                             {"after", to_json(decision.after)},
                             {"chosen", to_json(decision.chosen)},
                             {"present", to_json(decision.present)},
                             {"best", std::move(best)},
                             {"rejected", decision.rejected},
                             {"forecast_batch", decision.forecast_batch},
                             {"forecast_method", decision.forecast_method},
                             {"reason", decision.reason},
                             {"certificate", decision.certificate}};
  return json.dump();
}

}  // namespace jabas
