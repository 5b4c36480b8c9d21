// A whole run in one process: trainers as threads with fake engines, and a controller thread that
// plays the daemon with the real GenerationCoordinator. Everything waits for conditions with
// deadlines.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <thread>

#include "allocator/generation_coordinator.h"
#include "elastic_runner/checkpoint_store.h"
#include "elastic_runner/trainer.h"
#include "tests/elastic_runner/fake_engine.h"
#include "tests/elastic_runner/memory_communicator.h"

namespace jabas::testing {

class TrainingHarness;

// One worker: everything that run_worker() makes, without a process.
class HarnessWorker : public ControlPort {
 public:
  HarnessWorker(TrainingHarness& harness, std::string id);
  ~HarnessWorker() override { thread.join(); }

  void send(Message message) override;
  void update_hello(const std::function<void(Hello&)>&) override {}
  bool lease_lost() const override { return lease_is_lost; }

  TrainingHarness& harness;
  const std::string id;
  WorkerOrders orders;
  std::unique_ptr<GenerationBuilder> builder;
  std::atomic<bool> lease_is_lost = false, dead = false;
  std::optional<ExitCode> exit_code;  // read after join
  std::vector<double> weights;        // at the end
  RunState state;
  std::thread thread;
};

// Thrown by a test's before_step to play a killed worker: nothing of it is heard any more.
struct Killed {};

class TrainingHarness {
 public:
  explicit TrainingHarness(TrainingSpec wanted) : spec(std::move(wanted)) {}
  ~TrainingHarness() {
    stopping_ = true;
    controller_.join();
    stop_all();
    workers_.clear();
  }

  // Trains; `next_members` says how many workers each epoch has (from the epoch's number).
  void start(std::function<int(int epoch)> workers_in) {
    workers_in_ = std::move(workers_in);
    controller_ = std::thread([this] { control(); });
  }
  // Waits until every worker has ended. False when the deadline passes.
  bool wait(std::chrono::seconds deadline = std::chrono::seconds(60)) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, deadline,
                             [&] { return started_ && running_ == 0 && queue_.empty(); });
  }
  void post(const std::string& from, Message message) {
    const std::lock_guard lock(mutex_);
    if (on_message) on_message(from, message);
    queue_.emplace_back(from, std::move(message));
    changed_.notify_all();
  }
  void ended(const std::string& id) {
    const std::lock_guard lock(mutex_);
    --running_;
    ended_.push_back(id);
    changed_.notify_all();
  }
  template <typename M>
  int count() {
    const std::lock_guard lock(mutex_);
    int result = 0;
    for (const auto& [from, message] : seen_) result += std::holds_alternative<M>(message);
    return result;
  }
  template <typename M>
  std::vector<M> all() {
    const std::lock_guard lock(mutex_);
    std::vector<M> result;
    for (const auto& [from, message] : seen_) {
      if (const auto* one = std::get_if<M>(&message)) result.push_back(*one);
    }
    return result;
  }
  HarnessWorker& worker(int number) { return *workers_.at(std::size_t(number)); }
  std::size_t workers() const { return workers_.size(); }
  void stop_all() {
    const std::lock_guard lock(mutex_);
    for (auto& worker : workers_) worker->orders.handle(Stop{0, "test"});
  }

  TrainingSpec spec;
  std::string gpu_type, profile_json;  // of every member and generation
  bool recovers = true;                // false: workers that end are not replaced
  MemoryNetwork network;
  // Sees every message of a worker before the controller does.
  std::function<void(const std::string& from, const Message& message)> on_message;
  // Given to every engine; `id` is the worker's.
  std::function<void(const std::string& id, const StepPlan& plan)> before_step;
  std::function<void(const std::string& id)> before_evaluation;

 private:
  void spawn() {
    auto worker = std::make_unique<HarnessWorker>(*this, "w." + std::to_string(workers_.size()));
    {
      const std::lock_guard lock(mutex_);
      ++running_;
      started_ = true;
    }
    workers_.push_back(std::move(worker));
    live_.push_back(workers_.back()->id);
  }
  HarnessWorker* find(const std::string& id) {
    for (auto& worker : workers_) {
      if (worker->id == id) return worker.get();
    }
    return nullptr;
  }
  void act(const CoordinatorOutput& output) {
    for (const auto& outgoing : output.send) {
      HarnessWorker* worker = find(outgoing.to);
      if (worker != nullptr && !worker->dead) worker->builder->handle(outgoing.message);
    }
    for (const auto& event : output.events) {
      if (event.fact == GenerationFact::kReadyToCommit) act(coordinator_.commit());
      // A fault names no culprit: like the daemon, wait for the worker that is gone.
      if (event.fact == GenerationFact::kMemberLost && event.worker_id.empty()) {
        recover_by_ = Clock::now() + std::chrono::seconds(2);
      } else if (event.fact == GenerationFact::kMemberLost) {
        begin(true, epoch_);
      }
      if (event.fact == GenerationFact::kSwitched) {
        epoch_ = event.epoch;
        for (const auto& id : event.leavers) std::erase(live_, id);
        plan_next();
      }
      if (event.fact == GenerationFact::kSwitchFailed ||
          event.fact == GenerationFact::kBuildFailed) {
        if (coordinator_.generation() == 0) {
          begin(true, epoch_);
        } else {
          plan_next();
        }
      }
    }
  }
  void plan_next() {
    if (epoch_ < spec.epochs && !coordinator_.preparing() &&
        workers_in_(epoch_ + 1) != int(coordinator_.training().size())) {
      begin(false, epoch_ + 1);
    }
  }
  void begin(bool first, int epoch) {
    const int wanted = workers_in_(epoch);
    std::vector<PlanMember> members = coordinator_.training();
    std::erase_if(members, [&](const PlanMember& member) {
      return std::find(live_.begin(), live_.end(), member.worker_id) == live_.end();
    });
    while (std::ssize(live_) < wanted) spawn();
    for (const auto& id : live_) {
      const bool in = std::any_of(members.begin(), members.end(),
                                  [&](const auto& m) { return m.worker_id == id; });
      if (!in) members.push_back({id, gpu_type, "host"});
    }
    if (std::ssize(members) > wanted) members.resize(std::size_t(wanted));
    act(coordinator_.begin(std::move(members), profile_json, first));
  }
  void control() {
    begin(true, 1);
    while (!stopping_) {
      std::deque<std::pair<std::string, Message>> messages;
      std::vector<std::string> ended;
      {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::milliseconds(20),
                          [&] { return !queue_.empty() || !ended_.empty(); });
        messages.swap(queue_);
        ended.swap(ended_);
        seen_.insert(seen_.end(), messages.begin(), messages.end());
        changed_.notify_all();
      }
      for (const auto& [from, message] : messages) {
        if (const auto* report = std::get_if<EpochReport>(&message)) {
          epoch_ = report->epoch + 1;
          if (!coordinator_.preparing()) plan_next();
        }
        if (std::holds_alternative<Finished>(message)) finished_ = true;
        act(coordinator_.on_message(from, message));
      }
      for (const auto& id : ended) {
        std::erase(live_, id);
        if (!finished_ && recovers) act(coordinator_.on_lost(id));
      }
      if (recover_by_ && (!ended.empty() || Clock::now() > *recover_by_)) {
        recover_by_.reset();
        if (coordinator_.generation() == 0 && !coordinator_.preparing()) begin(true, epoch_);
      }
      if (finished_) {
        for (auto& worker : workers_) worker->orders.handle(Release{"finished"});
      }
    }
  }

  std::function<int(int)> workers_in_;
  GenerationCoordinator coordinator_;
  std::vector<std::unique_ptr<HarnessWorker>> workers_;
  std::vector<std::string> live_;
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> recover_by_;  // set: a fault waits for its culprit
  int epoch_ = 1;
  bool finished_ = false;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<std::pair<std::string, Message>> queue_, seen_;
  std::vector<std::string> ended_;
  int running_ = 0;
  bool started_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread controller_;
};

inline HarnessWorker::HarnessWorker(TrainingHarness& run, std::string name)
    : harness(run), id(std::move(name)) {
  builder = std::make_unique<GenerationBuilder>(id, *this,
                                                [this](RendezvousStore& store, int rank, int size) {
                                                  return harness.network.connect(store, rank, size);
                                                });
  thread = std::thread([this] {
    const TrainingSpec& spec = harness.spec;
    std::unique_ptr<Ledger> ledger;
    if (!spec.ledger_dir.empty())
      ledger = std::make_unique<Ledger>(spec.ledger_dir, id, spec.train_samples);
    FakeEngine engine(spec.train_samples,
                      [&](std::int64_t k, const std::vector<std::int64_t>& samples) {
                        if (ledger) ledger->record_read(k, samples);
                      });
    engine.before_step = [&](const StepPlan& plan) {
      if (harness.before_step) harness.before_step(id, plan);
    };
    engine.before_evaluation = [&] {
      if (harness.before_evaluation) harness.before_evaluation(id);
    };
    TrainingContext context{spec,
                            id,
                            "",
                            engine,
                            *this,
                            *builder,
                            orders,
                            ledger.get(),
                            std::nullopt,
                            RunState{},
                            spec.train_samples};
    {
      Trainer trainer(context);
      try {
        exit_code = trainer.run();
      } catch (const Killed&) {
        dead = true;
      }
    }
    const auto* values = static_cast<const double*>(engine.state()[0].data);
    weights.assign(values, values + 2);
    state = context.state;
    harness.ended(id);
  });
}

inline void HarnessWorker::send(Message message) {
  if (!dead) harness.post(id, std::move(message));
}

}  // namespace jabas::testing
