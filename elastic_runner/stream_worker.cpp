#include "elastic_runner/stream_worker.h"

#include <utility>

#include "allocator/error.h"

namespace jabas {

StreamWorker::StreamWorker(std::function<void()> begin) : job_(std::move(begin)) {
  thread_ = std::thread([this] { run(); });
  try {
    wait();
  } catch (...) {  // the thread must not outlive a constructor that throws
    stop();
    throw;
  }
}

StreamWorker::~StreamWorker() { stop(); }

void StreamWorker::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StreamWorker::start(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  JABAS_ASSERT(!job_, "a job is running");
  job_ = std::move(job);
  changed_.notify_all();
}

void StreamWorker::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !job_; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void StreamWorker::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return job_ || stopping_; });
    if (!job_) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      job_();
    } catch (...) {  // wait() rethrows it
      failure = std::current_exception();
    }
    lock.lock();
    job_ = nullptr;
    failure_ = failure;
    changed_.notify_all();
  }
}

}  // namespace jabas
