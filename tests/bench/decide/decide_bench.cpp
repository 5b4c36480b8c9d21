// Times whole decisions: decide() on states of 8 … 4,096 GPUs, one line per case.
//   decide_bench [RUNS [FILTER]]     prints: gpus types points policy objective median_ms max_ms |
//   certificate
// The speeds of the types and the forecast are generated: a type's streams bring up to 15 %, local
// batches are 16 … 128, the wanted batch of the epoch grows from 32 a GPU by 2 % a point, all
// different.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "allocator/batch_forecaster.h"
#include "allocator/scaling_policy.h"

namespace jabas {
namespace {

TypeProfile gpu_type(double slowness, double fixed_s, int max_streams) {
  TypeProfile type;
  for (const std::int64_t b : {16, 32, 64, 96, 128}) {
    const int streams = std::max(1, int(max_streams * 32 / b));
    type.max_streams[b] = streams;
    for (int v = 1; v <= streams; ++v) {
      const double s = (fixed_s + slowness * double(b)) * v * (1 - 0.05 * (v - 1));
      type.points.push_back({b, v, 0.02 * s, 0.32 * s, 0.66 * s, 0.004, 0, 0});
    }
  }
  type.gpus_per_node = 4;
  return type;
}

struct Case {
  int gpus, types, points;
  BatchPolicy policy;
  const char* objective;
};

DecisionState state_of(const Case& one) {
  DecisionState state;
  state.next_epoch = 3;
  state.epochs = 30;
  state.epoch_samples = 1'281'167;
  state.wanted_batch = 32.0 * one.gpus;
  state.adaptive = true;
  state.batch_policy = one.policy;
  state.batch = {
      .batch_min = 256, .batch_max = 256 * std::int64_t(one.gpus), .current_local_batch = 32};
  state.grad_sqr = 1;
  state.grad_var = 6;
  state.objective = parse_objective(one.objective);
  for (int t = 0; t < one.types; ++t) {
    const std::string name = "t" + std::to_string(t);
    const double speed = 1 + 0.73 * t;
    state.profile.types[name] = gpu_type(3e-3 / speed, 4e-3, 2 + t % 3);
    const int most = one.gpus / one.types;
    state.supply[name] = {.max = most,
                          .free = most - (t == 0 ? std::min(most, 4) : 0),
                          .price_per_h = 0.6 * speed * (1 + 0.17 * ((t * 7) % 5 - 2))};
    if (t == 0) state.held[name] = std::min(most, 4);
  }
  state.profile.bucket_bytes = {8e6, 25e6, 25e6, 31e6};
  state.profile.intra = {15.75e9, {{0.0002, 0.0011}, {0.0100, 0.0137}}};
  state.profile.inter = {12.5e9, {{0.0005, 0.0044}, {0.0131, 0.0134}}};
  return state;
}

BatchForecast forecast_of(const Case& one, const DecisionState& state) {
  BatchForecast forecast;
  double batch = state.wanted_batch, ratio = state.grad_var;
  for (int i = 0; i < one.points; ++i, batch *= 1.02, ratio *= 1.02)
    forecast.next_epoch.push_back({batch, state.epoch_samples / one.points, ratio});
  forecast.later_batch = batch;
  forecast.later_noise_ratio = ratio;
  forecast.method = "bench";
  return forecast;
}

const char* name_of(BatchPolicy policy) {
  return policy == BatchPolicy::kGoodput ? "goodput" : "paper";
}

void measure(const Case& one, int runs) {
  const DecisionState state = state_of(one);
  const BatchForecast forecast = forecast_of(one, state);
  std::vector<double> ms;
  Decision decision;
  for (int run = 0; run < runs; ++run) {
    const std::clock_t start = std::clock();  // of this process only: other load does not count
    decision = decide(state, forecast);
    ms.push_back(double(std::clock() - start) * 1e3 / CLOCKS_PER_SEC);
  }
  std::sort(ms.begin(), ms.end());
  std::printf("%5d GPUs %d types %2d points %-7s %-12s %9.2f ms (max %9.2f) | %s | %s\n", one.gpus,
              one.types, one.points, name_of(one.policy), one.objective, ms[ms.size() / 2],
              ms.back(), to_list(decision.after).c_str(), decision.certificate.c_str());
  std::fflush(stdout);
}

}  // namespace
}  // namespace jabas

int main(int argc, char** argv) {
  using namespace jabas;
  const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  const std::string filter = argc > 2 ? argv[2] : "";
  const char* objectives[] = {"time",     "time:0",       "cost",      "balanced",
                              "value:20", "deadline:12h", "budget:90", "paper"};
  std::vector<Case> cases;
  for (const auto& [gpus, types] :
       {std::pair(8, 1), {8, 2}, {32, 2}, {64, 4}, {256, 4}, {1024, 4}, {4096, 4}, {4096, 8}})
    for (const int points : {1, 10, 50})
      for (const BatchPolicy policy : {BatchPolicy::kPaper, BatchPolicy::kGoodput})
        for (const char* objective : objectives)
          cases.push_back({gpus, types, points, policy, objective});
  for (const Case& one : cases) {
    const std::string name = std::to_string(one.gpus) + " " + std::to_string(one.types) + " " +
                             std::to_string(one.points) + " " + name_of(one.policy) + " " +
                             one.objective;
    if (name.find(filter) != std::string::npos) measure(one, runs);
  }
}
