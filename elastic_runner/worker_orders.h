// What a worker was told to do besides training: stop, release, SIGTERM. Set on the control thread
// (or by a signal), read by the main thread at each step.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "allocator/control_messages.h"

namespace jabas {

class WorkerOrders {
 public:
  // Stop and release. Returns false for other messages.
  bool handle(const Message& message);
  bool stop() const { return stop_; }
  // Leave this worker's job: the daemon releases it, or SIGTERM announces its end.
  bool release() const { return release_ || terminated_; }
  std::string reason() const;
  // SIGTERM sets a flag of the process that every WorkerOrders sees.
  static void catch_sigterm();

 private:
  static std::atomic<bool> terminated_;
  std::atomic<bool> stop_ = false, release_ = false;
  mutable std::mutex mutex_;  // guards reason_
  std::string reason_;
};

}  // namespace jabas
