// Reads batches before they are needed: reader threads work through the passes of the present step
// and, as far as a hint tells them, of the next one, while the streams compute.
//
// What a batch contains is a function of (seed, epoch, step, virtual worker, samples) alone, so it
// makes no difference who reads it or when: a hint that does not come true costs the reading. A
// stream that asks for a pass that no reader has begun reads it itself.
// Bounds: at most two passes per stream are read and not yet taken, and never more than one step
// ahead.
// Threads: begin_step() from one, between steps; take() from any stream.
// Errors: what the loader throws is thrown by the take() that wanted the batch, never earlier.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "elastic_runner/batch_loader.h"
#include "elastic_runner/iidp_engine.h"

namespace jabas {

class ReadAhead {
 public:
  // The loader outlives this object. No readers: take() reads.
  ReadAhead(const BatchLoader& loader, std::uint64_t seed, int readers);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Keeps what was read for this step and drops everything else.
  void begin_step(const StepPlan& plan, std::size_t streams);
  // The batch of the plan's pass `index`, which was given to begin_step and is not empty. Once.
  Batch take(const StepPlan& plan, std::size_t index);

 private:
  struct Pass {
    int epoch;
    std::int64_t step, virtual_worker;
    std::vector<std::int64_t> samples;

    bool operator==(const Pass&) const = default;
  };
  enum class State { kWaiting, kReading, kDone };
  struct Entry {
    Pass pass;
    State state = State::kWaiting;
    std::optional<Batch> batch;
    std::exception_ptr failure;
  };
  using Queue = std::deque<std::shared_ptr<Entry>>;

  static Pass pass_of(const StepPlan& plan, std::size_t index);
  void add(Queue& queue, const Pass& pass);  // an entry that is there is kept
  Batch read(const Pass& pass) const;
  void run();
  std::shared_ptr<Entry> next_to_read() const;

  const BatchLoader& loader_;
  const std::uint64_t seed_;
  std::mutex mutex_;  // guards the members below up to threads_
  std::condition_variable changed_;
  Queue queue_;  // in the order of use; without those taken
  std::size_t most_ahead_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace jabas
