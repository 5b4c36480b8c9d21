#include "elastic_runner/read_ahead.h"

#include <algorithm>
#include <utility>

#include "allocator/error.h"

namespace jabas {
namespace {

// Separates this stream from the others of the same virtual worker.
constexpr std::uint64_t kAugmentationDraws = 0x6175676d656e74;
constexpr std::size_t kPassesPerStream = 2;

}  // namespace

ReadAhead::ReadAhead(const BatchLoader& loader, std::uint64_t seed, int readers)
    : loader_(loader), seed_(seed) {
  for (int i = 0; i < readers; ++i) threads_.emplace_back([this] { run(); });
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
}

ReadAhead::Pass ReadAhead::pass_of(const StepPlan& plan, std::size_t index) {
  return {plan.epoch, plan.step, plan.first_worker + static_cast<std::int64_t>(index),
          plan.slices[index]};
}

void ReadAhead::begin_step(const StepPlan& plan, std::size_t streams) {
  if (threads_.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    Queue expected;
    for (std::size_t i = 0; i < plan.slices.size(); ++i) add(expected, pass_of(plan, i));
    for (std::size_t i = 0; i < plan.next_slices.size(); ++i)
      add(expected, {plan.epoch, plan.step + 1, plan.first_worker + static_cast<std::int64_t>(i),
                     plan.next_slices[i]});
    queue_ = std::move(expected);  // readers hold on to entries that are dropped here
    most_ahead_ = kPassesPerStream * streams;
  }
  changed_.notify_all();
}

void ReadAhead::add(Queue& queue, const Pass& pass) {
  if (pass.samples.empty()) return;
  const auto known = std::find_if(queue_.begin(), queue_.end(),
                                  [&](const auto& entry) { return entry->pass == pass; });
  if (known != queue_.end()) {
    queue.push_back(*known);
  } else {
    queue.push_back(std::make_shared<Entry>());
    queue.back()->pass = pass;
  }
}

Batch ReadAhead::take(const StepPlan& plan, std::size_t index) {
  const Pass pass = pass_of(plan, index);
  if (threads_.empty()) return read(pass);
  std::unique_lock lock(mutex_);
  const auto place = std::find_if(queue_.begin(), queue_.end(),
                                  [&](const auto& candidate) { return candidate->pass == pass; });
  JABAS_ASSERT(place != queue_.end(), "a pass that begin_step did not name");
  const std::shared_ptr<Entry> entry = *place;
  const bool begun = entry->state != State::kWaiting;
  if (begun) changed_.wait(lock, [&] { return entry->state == State::kDone; });
  queue_.erase(std::find(queue_.begin(), queue_.end(), entry));
  lock.unlock();
  changed_.notify_all();  // there is room for a reader to go on
  if (!begun) return read(pass);
  if (entry->failure) std::rethrow_exception(entry->failure);
  return std::move(*entry->batch);
}

Batch ReadAhead::read(const Pass& pass) const {
  RandomStream augmentation({seed_, kAugmentationDraws, static_cast<std::uint64_t>(pass.epoch),
                             static_cast<std::uint64_t>(pass.step),
                             static_cast<std::uint64_t>(pass.virtual_worker)});
  return loader_.train(pass.samples, augmentation);
}

std::shared_ptr<ReadAhead::Entry> ReadAhead::next_to_read() const {
  std::size_t ahead = 0;
  for (const auto& entry : queue_) {
    if (ahead == most_ahead_) break;
    if (entry->state == State::kWaiting) return entry;
    ++ahead;
  }
  return nullptr;
}

void ReadAhead::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    std::shared_ptr<Entry> entry;
    changed_.wait(lock, [&] { return stopping_ || (entry = next_to_read()) != nullptr; });
    if (stopping_) return;
    entry->state = State::kReading;
    lock.unlock();
    try {
      entry->batch = read(entry->pass);
    } catch (...) {  // take() rethrows it
      entry->failure = std::current_exception();
    }
    lock.lock();
    entry->state = State::kDone;
    changed_.notify_all();
  }
}

}  // namespace jabas
