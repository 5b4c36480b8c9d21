// What the parts of a training worker share: its tools, the state of the run, and the generation
// it trains in.
// Ownership: references belong to the worker process.
// Threads: the worker's main thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocator/profile.h"
#include "elastic_runner/checkpoint_writer.h"
#include "elastic_runner/control_port.h"
#include "elastic_runner/emulation.h"
#include "elastic_runner/generation_builder.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/ledger.h"
#include "elastic_runner/metrics.h"
#include "elastic_runner/run_state.h"
#include "elastic_runner/worker_orders.h"

namespace jabas {

using Clock = std::chrono::steady_clock;

struct TrainingContext {
  const TrainingSpec& spec;
  const std::string worker_id;
  const std::string own_gpu_type;  // JABAS_GPU_TYPE; "" if unset
  IidpEngine& engine;
  ControlPort& control;
  GenerationBuilder& builder;
  WorkerOrders& orders;
  Ledger* ledger = nullptr;                  // nullptr = none is kept
  std::optional<Profile> emulation_profile;  // --emulate
  RunState state;
  std::int64_t train_samples = 0;
};

// The generation this worker trains in.
struct ActiveGeneration {
  Prepare prepare;
  std::unique_ptr<Communicator> communicator;
  std::optional<Profile> profile;      // snapshot of the last plan, for the batch rules
  Configuration split;                 // b, N and (V, a) by rank
  std::optional<Emulation> emulation;  // of this rank
  std::optional<Clock::time_point>
      paused_since;  // set until the first step: the pause is still running
  bool switch_reported = false;

  int rank() const { return communicator->rank(); }
  const GpuShare& share() const { return split.shares[std::size_t(rank())]; }
  // Index of this rank's first virtual worker.
  std::int64_t first_worker() const {
    std::int64_t first = 0;
    for (int r = 0; r < rank(); ++r) first += split.shares[std::size_t(r)].workers();
    return first;
  }
};

// Every collective waits at most max(8 s, 4 × the slowest step), predicted or seen.
constexpr std::chrono::milliseconds kLeastCollectiveTimeout{8000};
// Before a step was seen and none is predicted; also where ranks wait for files or for evaluation.
constexpr std::chrono::milliseconds kUnknownCollectiveTimeout{60000};

// Makes a plan the one in force: split, state, engine, emulation.
void apply_plan(TrainingContext& context, ActiveGeneration& generation, const BatchPlan& plan);

// Lets all ranks finish the operation before this one before any of them drops the communicator: a
// rank that closes early would break it for those still inside. Failure means that someone has
// closed already, which is fine here.
void settle(Communicator& communicator);

}  // namespace jabas
