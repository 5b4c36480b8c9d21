#include "elastic_runner/run_state.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "allocator/error.h"

namespace jabas {
namespace {

using nlohmann::json;

json to_json(const AdaptiveState& state) {
  return {{"sqr_sum", state.sqr_sum},
          {"trace_sum", state.trace_sum},
          {"weight", state.weight},
          {"similarity", state.similarity},
          {"wanted_batch", state.wanted_batch},
          {"next_adjustment", state.next_adjustment}};
}

AdaptiveState adaptive_from(const json& object) {
  AdaptiveState state;
  object.at("sqr_sum").get_to(state.sqr_sum);
  object.at("trace_sum").get_to(state.trace_sum);
  object.at("weight").get_to(state.weight);
  object.at("similarity").get_to(state.similarity);
  object.at("wanted_batch").get_to(state.wanted_batch);
  object.at("next_adjustment").get_to(state.next_adjustment);
  return state;
}

// Runs `read` on the parsed text; what JSON finds wrong becomes one line that names the object.
template <typename Read>
auto parsed(const std::string& text, const char* what, Read read) {
  try {
    return read(json::parse(text));
  } catch (const json::exception& error) {
    throw ProtocolError(std::string(what) + ": " + error.what());
  }
}

}  // namespace

std::string to_json_text(const RunState& state) {
  return json{{"generation", state.generation},
              {"epoch", state.epoch},
              {"samples_consumed", state.samples_consumed},
              {"step", state.step},
              {"local_batch", state.local_batch},
              {"virtual_workers", state.virtual_workers},
              {"adaptive", to_json(state.adaptive)},
              {"epoch_steps", state.epoch_steps},
              {"epoch_loss_sum", state.epoch_loss_sum},
              {"epoch_train_s", state.epoch_train_s},
              {"emulated_steps", state.emulated_steps},
              {"emulation_overruns", state.emulation_overruns},
              {"test_accuracy", state.test_accuracy}}
      .dump();
}

RunState run_state_from_json(const std::string& text) {
  return parsed(text, "run state", [](const json& object) {
    RunState state;
    object.at("generation").get_to(state.generation);
    object.at("epoch").get_to(state.epoch);
    object.at("samples_consumed").get_to(state.samples_consumed);
    object.at("step").get_to(state.step);
    object.at("local_batch").get_to(state.local_batch);
    object.at("virtual_workers").get_to(state.virtual_workers);
    state.adaptive = adaptive_from(object.at("adaptive"));
    object.at("epoch_steps").get_to(state.epoch_steps);
    // A diverged loss is not a JSON number; it arrives as null.
    const auto& loss = object.at("epoch_loss_sum");
    state.epoch_loss_sum =
        loss.is_null() ? std::numeric_limits<double>::quiet_NaN() : loss.get<double>();
    object.at("epoch_train_s").get_to(state.epoch_train_s);
    object.at("emulated_steps").get_to(state.emulated_steps);
    object.at("emulation_overruns").get_to(state.emulation_overruns);
    object.at("test_accuracy").get_to(state.test_accuracy);
    return state;
  });
}

RunPosition position_of(const RunState& state) {
  return {state.step, state.epoch, state.generation};
}

std::string to_json_text(const BatchPlan& plan) {
  json shares = json::array();
  for (const auto& share : plan.configuration.shares)
    shares.push_back({share.streams, share.accum_steps});
  return json{{"local_batch", plan.configuration.local_batch},
              {"virtual_workers", plan.configuration.virtual_workers},
              {"shares", shares},
              {"step_s", plan.configuration.step_s},
              {"adaptive", to_json(plan.adaptive)},
              {"reason", plan.reason}}
      .dump();
}

BatchPlan batch_plan_from_json(const std::string& text) {
  return parsed(text, "batch plan", [](const json& object) {
    BatchPlan plan;
    object.at("local_batch").get_to(plan.configuration.local_batch);
    object.at("virtual_workers").get_to(plan.configuration.virtual_workers);
    object.at("step_s").get_to(plan.configuration.step_s);
    for (const auto& share : object.at("shares")) {
      plan.configuration.shares.push_back({share.at(0).get<int>(), share.at(1).get<int>()});
    }
    plan.adaptive = adaptive_from(object.at("adaptive"));
    object.at("reason").get_to(plan.reason);
    return plan;
  });
}

}  // namespace jabas
