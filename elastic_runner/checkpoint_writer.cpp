#include "elastic_runner/checkpoint_writer.h"

#include <cstdio>
#include <cstring>

#include "allocator/error.h"

namespace jabas {

CheckpointWriter::CheckpointWriter(CheckpointStore store, std::string identity)
    : store_(std::move(store)), identity_(std::move(identity)), thread_([this] { run(); }) {}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CheckpointWriter::snapshot(const std::vector<StateTensor>& tensors, const RunState& state) {
  auto copy = std::make_unique<Snapshot>();
  copy->tensors = tensors;
  copy->state = state;
  std::size_t bytes = 0;
  for (const auto& tensor : tensors) bytes += tensor.bytes;
  {
    const std::lock_guard lock(mutex_);
    copy->memory = std::move(waiting_ ? waiting_->memory : spare_);
    waiting_.reset();  // the new one replaces it
  }
  char* next = copy->memory.reserve(bytes);
  for (auto& tensor : copy->tensors) {
    if (tensor.bytes > 0) std::memcpy(next, tensor.data, tensor.bytes);
    tensor.data = next;
    next += tensor.bytes;
  }
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(copy);
  }
  changed_.notify_all();
}

bool CheckpointWriter::finish(std::chrono::seconds deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, deadline, [&] { return !waiting_ && !writing_; }) &&
         last_succeeded_;
}

void CheckpointWriter::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return waiting_ || stopping_; });
    if (!waiting_) return;
    const auto snapshot = std::move(waiting_);
    writing_ = true;
    lock.unlock();
    bool succeeded = true;
    try {
      store_.write(snapshot->tensors, snapshot->state, identity_);
    } catch (const Error& error) {
      succeeded = false;
      std::fprintf(stderr, "jabas-run: checkpoint not written: %s; the training goes on\n",
                   error.what());
    }
    lock.lock();
    writing_ = false;
    spare_ = std::move(snapshot->memory);
    last_succeeded_ = succeeded;
    changed_.notify_all();
  }
}

}  // namespace jabas
