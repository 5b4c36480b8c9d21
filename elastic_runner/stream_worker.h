// A persistent thread that runs one job at a time: virtual stream workers and the communication
// thread.
//
// Persistent because libraries keep caches, handles and hooks per thread.
// Threads: start() and wait() belong to one caller thread; the job runs on the worker's.
// Errors: what a job throws is rethrown by the next wait().   The destructor waits for the running
// job.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace jabas {

class StreamWorker {
 public:
  // `begin` runs first on the new thread; the constructor returns when it is done and rethrows what
  // it throws.
  explicit StreamWorker(std::function<void()> begin);
  ~StreamWorker();
  StreamWorker(const StreamWorker&) = delete;
  StreamWorker& operator=(const StreamWorker&) = delete;

  // Only when idle.
  void start(std::function<void()> job);
  void wait();

 private:
  void run();
  void stop();

  std::mutex mutex_;  // guards the members below up to thread_
  std::condition_variable changed_;
  std::function<void()> job_;  // empty = idle
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace jabas
