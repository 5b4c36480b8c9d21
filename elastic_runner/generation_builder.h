// Builds the communicators of prepared generations in side threads while the present generation
// trains, and keeps what the daemon said about them: prepared, built, committed, taken back.
//
// Each attempt has a thread of its own, so that a newer `prepare` never waits for an older build.
// Once built, the side thread of the future rank 0 sends ticks to the joiners (join_signal.h)
// until the communicator is taken or dropped.
// Ownership: owns communicators until they are taken.
// Threads: handle on the control thread (never blocks); the rest on the worker's main thread.
// Errors: a failed build is reported to the daemon as `build_failed`.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "elastic_runner/communicator.h"
#include "elastic_runner/control_port.h"
#include "elastic_runner/rendezvous.h"

namespace jabas {

using GenerationKey = std::pair<int, int>;  // (generation, attempt)

struct PreparedGeneration {
  Prepare prepare;
  std::unique_ptr<Communicator> communicator;
};

class GenerationBuilder {
 public:
  using MakeCommunicator =
      std::function<std::unique_ptr<Communicator>(RendezvousStore&, int rank, int world_size)>;
  GenerationBuilder(std::string worker_id, ControlPort& control, MakeCommunicator make);
  ~GenerationBuilder();
  GenerationBuilder(const GenerationBuilder&) = delete;
  GenerationBuilder& operator=(const GenerationBuilder&) = delete;

  // prepare, peers, commit, revoke. Returns false for other messages.
  bool handle(const Message& message);

  // Who trains now: the others of a prepared generation are its joiners. Empty = this worker is on
  // standby.
  void set_training(const std::vector<PlanMember>& members);
  // Returns when something may have changed, or after `wait`.
  void wait(std::chrono::milliseconds wait);
  // A first generation (or a recovery) was committed: whatever trains now is over.
  bool first_committed();
  std::optional<PreparedGeneration> take_first();
  // On standby: a planned generation is built; its rank 0 will say when it begins.
  std::optional<PreparedGeneration> take_joining();
  // Rank 0 at a boundary: the generation to switch to. From now on a `revoke` of it comes too late.
  std::optional<GenerationKey> take_commit();
  std::optional<PreparedGeneration> take(GenerationKey key);
  // A `prepare` of this generation named this worker, in whatever attempt.
  bool was_member_of(int generation);
  // The present generation broke: what was planned to follow it is void.
  void drop_planned();

 private:
  struct Attempt;
  void on(const Prepare& prepare);
  void on(const Peers& peers);
  void on(const Commit& commit);
  void on(const Revoke& revoke);
  void build(const std::shared_ptr<Attempt>& attempt);
  void tick_until_taken(const std::shared_ptr<Attempt>& attempt);
  void cancel(std::unique_lock<std::mutex>& lock);
  std::optional<PreparedGeneration> take_locked(std::unique_lock<std::mutex>& lock);
  void reap_locked();

  const std::string worker_id_;
  ControlPort& control_;
  const MakeCommunicator make_;

  std::mutex mutex_;  // guards everything below, and the attempts' fields
  std::condition_variable changed_;
  std::shared_ptr<Attempt> attempt_;
  std::list<std::shared_ptr<Attempt>>
      retired_;  // cancelled or taken; their threads end by themselves
  std::optional<GenerationKey> first_commit_, boundary_commit_, taken_commit_;
  std::set<int> named_in_;
  std::set<std::string> training_;
};

}  // namespace jabas
