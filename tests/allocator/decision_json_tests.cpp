// The JSON forms of a decision's state and result.
#include <boost/test/unit_test.hpp>

#include "allocator/error.h"
#include "allocator/json_reader.h"
#include "tests/allocator/decision_fixtures.h"

namespace jabas {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

std::string complaint(const std::string& from, const std::string& to) {
  try {
    state_from_json(replaced(to_json_text(fixtures::two_type_state()), from, to));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(decision_json_tests)

BOOST_AUTO_TEST_CASE(a_state_reads_back_the_same) {
  DecisionState state = fixtures::two_type_state();
  state.now_s = 1.7e9;
  state.start = true;
  state.batch_history = {{100, 128}, {200, 140.8}};
  state.adapt_every = 50;
  state.rest_progress = 123.5;
  state.elapsed_s = 60;
  state.spent_cost = 0.5;
  state.batch_policy = BatchPolicy::kGoodput;
  state.noise_history = {{100, 7.5}, {200, 8}};
  state.rules = {.reference = true, .sequential = true};
  state.adaptive = true;
  state.grad_sqr = 0.25;
  state.grad_var = 4;
  state.batch.needs_two_workers = false;
  state.supply["v100"].base = 1;
  state.unit = 2;
  state.objective = parse_objective("value:2.5");
  state.hysteresis = 0.1;
  state.min_interval_epochs = 2;
  state.epochs_since_change = 3;
  state.epochs_per_stay = 1.5;
  state.resize_pause_s = 0.7;
  state.startup_s = 4;
  state.evaluation_s = 1;
  state.minimum_billing_s = 60;
  const std::string text = to_json_text(state);
  BOOST_TEST(to_json_text(state_from_json(text)) == text);
}

BOOST_AUTO_TEST_CASE(what_has_a_default_may_be_left_out) {
  const DecisionState state =
      state_from_json(R"({"epochs": 2, "next_epoch": 1, "epoch_samples": 1000, "wanted_batch": 128,
    "batch": {"batch_min": 64, "batch_max": 256}, "held": {}, "supply": {"v100": {"max": 2, "free": 1, "price_per_h": 3}},
    "objective": "cost", "profile": {"jabas_profile": 1, "types": {}}})");
  BOOST_TEST(state.unit == 1);
  BOOST_TEST(state.hysteresis == 0.05);
  BOOST_TEST(state.batch.needs_two_workers);
  BOOST_TEST(state.supply.at("v100").min == 0);
}

BOOST_AUTO_TEST_CASE(bad_states_are_named) {
  BOOST_TEST(complaint("\"hysteresis\"", "\"histeresis\"") ==
             "state: histeresis: is not a known key");
  BOOST_TEST(complaint("\"epochs\"", "\"epoch\"") == "state: epochs: is missing");
  BOOST_TEST(complaint("\"price_per_h\"", "\"price\"") ==
             "state: supply.p100.price_per_h: is missing");
  BOOST_TEST(complaint("\"next_epoch\": 3", "\"next_epoch\": 7") ==
             "state: next_epoch: 7 is not accepted: must be a whole number, 1..6");
  BOOST_TEST(complaint("\"p100\": 2", "\"t4\": 2") == "state: held.t4: is not a type of supply");
  BOOST_TEST(complaint("\"p100\": 2", "\"p100\": -2") ==
             "state: held.p100: -2 is not accepted: must be a whole number, 0..1000000");
  BOOST_TEST(complaint("time:0.05", "fast") ==
             "state: objective: objective 'fast' is not accepted: must be time[:EPS], cost, "
             "balanced[:ALPHA], value:V, deadline:T, budget:X or paper");
  BOOST_TEST(complaint("\"batch_policy\": \"paper\"", "\"batch_policy\": \"best\"") ==
             "state: batch_policy: 'best' is not paper, similarity or goodput");
  BOOST_TEST(
      complaint("\"batch_max\": 192", "\"batch_max\": 64") ==
      "state: batch.batch_max: 64 is not accepted: must be a whole number, 192..4194304");
  BOOST_TEST(complaint("\"batch_history\": []", "\"batch_history\": [[100, 1e60]]") ==
             "state: batch_history: the value at step 100, 1e+60, is not in 1..4194304");
  BOOST_TEST(complaint("\"jabas_profile\": 1", "\"jabas_profile\": 9") ==
             "state: profile: jabas_profile: 9 is not a version this program reads (it reads 1)");
  BOOST_CHECK_THROW(state_from_json("{"), InputError);
}

BOOST_AUTO_TEST_CASE(a_decision_has_the_keys_of_the_journal) {
  JsonReader reader =
      JsonReader::parse(to_json_text(decide(fixtures::two_type_state())), "decision");
  BOOST_TEST(reader.text("action") == "grow");
  BOOST_TEST(reader.object("before").integer("p100", 0, 9) == 2);
  BOOST_TEST(reader.object("after").integer("v100", 0, 9) == 2);
  JsonReader chosen = reader.object("chosen");
  BOOST_TEST(chosen.object("gpus").keys().size() == 2u);
  for (const char* key : {"next_epoch_s", "rest_s", "rest_cost", "score"})
    BOOST_TEST(chosen.number(key) > 0, key);
  BOOST_TEST(chosen.flag_or("batch_clamped", true) == false);
  JsonReader configuration = chosen.object("configuration");
  BOOST_TEST(configuration.integer("local_batch", 1, 99) == 16);
  BOOST_TEST(configuration.integer("virtual_workers", 1, 99) == 12);
  BOOST_TEST(configuration.number("step_s") > 0);
  BOOST_TEST(configuration.pairs("shares").size() == 4u);
  configuration.finish();
  chosen.finish();
  BOOST_TEST(reader.object("present").object("gpus").integer("p100", 0, 9) == 2);
  BOOST_TEST(reader.objects("best").size() == 8u);
  BOOST_TEST(reader.object("rejected").integer("no GPU", 1, 1) == 1);
  BOOST_TEST(reader.number("forecast_batch") == 192);
  BOOST_TEST(reader.text("forecast_method") == "fixed");
  BOOST_TEST(reader.text("reason").starts_with("grow: "));
  BOOST_TEST(reader.text("certificate") == "exhaustive over 9 candidates");
  reader.finish();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
