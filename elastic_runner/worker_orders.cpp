#include "elastic_runner/worker_orders.h"

#include <csignal>

namespace jabas {

std::atomic<bool> WorkerOrders::terminated_ = false;
static_assert(std::atomic<bool>::is_always_lock_free, "set in a signal handler");

bool WorkerOrders::handle(const Message& message) {
  const auto* stop = std::get_if<Stop>(&message);
  const auto* release = std::get_if<Release>(&message);
  if (stop == nullptr && release == nullptr) return false;
  {
    const std::lock_guard lock(mutex_);
    reason_ = stop != nullptr ? stop->reason : release->reason;
  }
  (stop != nullptr ? stop_ : release_) = true;
  return true;
}

std::string WorkerOrders::reason() const {
  const std::lock_guard lock(mutex_);
  if (!reason_.empty()) return reason_;
  return terminated_ ? "terminated (SIGTERM)" : "";
}

void WorkerOrders::catch_sigterm() {
  struct sigaction action {};
  action.sa_handler = [](int) { terminated_ = true; };
  ::sigaction(SIGTERM, &action, nullptr);
}

}  // namespace jabas
