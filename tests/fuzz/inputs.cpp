#include "tests/fuzz/inputs.h"

#include <algorithm>
#include <stdexcept>

#include "allocator/batch_choice.h"
#include "allocator/cost_model.h"
#include "allocator/csv_table.h"
#include "allocator/scaling_policy.h"
#include "allocator/sia_import.h"
#include "allocator/throughput_model.h"
#include "tests/allocator/decision_fixtures.h"

namespace jabas::fuzz {
namespace {

// Half of the inputs keep being JSON, so that the checks behind the parser are reached.
std::string broken_json(const std::string& text, Random& random) {
  return random() % 8 == 0 ? mutate_text(text, random) : mutate_json(text, random);
}

void use_profile(const std::string& text) {
  const Profile profile = profile_from_json(text, "profile");
  RankedGpus gpus{{}, 1};
  for (const auto& [name, type] : profile.types) gpus.types.push_back(name);
  for (const bool reference : {false, true}) {
    const ThroughputModel model(profile, ModelRules{reference, false});
    std::int64_t batch = 0;
    for (const auto& [name, type] : profile.types)
      batch = std::max(batch, model.find(name)->smallest_batch());
    const Solution solution = solve(gpus, batch, std::int64_t(gpus.types.size()) + 3, model);
    if (!solution.configuration && solution.reason.empty())
      throw std::logic_error("no configuration and no reason");
  }
}

void use_state(const std::string& text) {
  const DecisionState state = state_from_json(text);
  const Decision decision = decide(state);
  if (decision.reason.empty()) throw std::logic_error("a decision without a reason");
  to_json_text(decision);
}

void use_table(const std::string& text) {
  const CsvTable table = CsvTable::parse(text, "table");
  const std::size_t step = table.column("step"), batch = table.column("gbs");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    table.integer(row, step, 0, 1'000'000);
    table.number(row, batch);
  }
}

void use_placements(const std::string& text) {
  const std::vector<SiaStep> steps = read_sia_steps(CsvTable::parse(text, "placements"));
  if (steps.empty()) return;
  Profile profile;
  profile.types["type"] = sia_type(steps, "placements");
  use_profile(to_json_text(profile));
}

DecisionState good_state() {
  DecisionState state = fixtures::two_type_state();
  state.batch.fixed_local_batch = 0;
  state.batch.batch_min = 64;
  state.batch.batch_max = 1024;
  state.adaptive = true;
  state.grad_sqr = 1;
  state.grad_var = 5;
  for (int i = 1; i <= 8; ++i) state.batch_history.emplace_back(100 * i, 100.0 + 10 * i);
  for (int i = 1; i <= 8; ++i) state.noise_history.emplace_back(100 * i, 5.0 + 0.1 * i);
  return state;
}

}  // namespace

std::vector<Target> targets() {
  const std::string profile = to_json_text(fixtures::resnet50());
  DecisionState by_goodput = good_state();
  by_goodput.batch_policy = BatchPolicy::kGoodput;
  const std::string state = to_json_text(good_state()), goodput = to_json_text(by_goodput);
  std::string placements = "placement,local_bsz,step_time,sync_time\n";
  for (const char* placement : {"1", "2", "4", "11", "44", "112"})
    for (const int batch : {8, 16, 32})
      placements += std::string(placement) + "," + std::to_string(batch) + "," +
                    std::to_string(0.01 * batch) + ",0.01\n";
  const std::string batches =
      "trajectory,dataset,epoch,step,gbs\na,1000,0,100,256\na,1000,0,200,300\nb,1000,1,300,310\n";
  return {
      {"profile", [=](Random& r) { return broken_json(profile, r); }, use_profile},
      {"decision state", [=](Random& r) { return broken_json(state, r); }, use_state},
      {"decision state, goodput", [=](Random& r) { return broken_json(goodput, r); }, use_state},
      {"CSV table",
       [=](Random& r) { return r() % 2 ? mutate_csv(batches, r) : mutate_text(batches, r); },
       use_table},
      {"measured placements",
       [=](Random& r) { return r() % 4 ? mutate_csv(placements, r) : mutate_text(placements, r); },
       use_placements},
      {"prices, JSON",
       [](Random& r) { return broken_json(R"({"prices":{"v100":3.06,"p100":1.2}})", r); },
       [](const std::string& text) { parse_prices(text, "prices"); }},
      {"prices, CSV",
       [](Random& r) { return mutate_csv("type,usd_per_gpu_hour\nv100,3.06\np100,1.2\n", r); },
       [](const std::string& text) { parse_prices(text, "prices"); }},
  };
}

}  // namespace jabas::fuzz
