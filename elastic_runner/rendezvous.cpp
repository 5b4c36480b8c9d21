#include "elastic_runner/rendezvous.h"

namespace jabas {

ControlRendezvous::ControlRendezvous(ControlPort& control, int generation, int attempt, int rank,
                                     int world_size)
    : control_(control),
      generation_(generation),
      attempt_(attempt),
      rank_(rank),
      world_size_(world_size) {}

void ControlRendezvous::publish(const std::string& blob) {
  control_.send(Rendezvous{generation_, attempt_, rank_, blob});
}

const std::vector<std::string>& ControlRendezvous::wait_all(std::chrono::milliseconds deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, deadline, [&] { return cancelled_ || !blobs_.empty(); });
  const std::string name =
      "generation " + std::to_string(generation_) + " attempt " + std::to_string(attempt_);
  if (cancelled_) throw CommError(name + ": taken back");
  if (blobs_.empty()) {
    throw CommError(name + ": the peers were not known after " + std::to_string(deadline.count()) +
                    " ms");
  }
  return blobs_;
}

void ControlRendezvous::deliver(const std::vector<std::string>& blobs) {
  {
    const std::lock_guard lock(mutex_);
    if (!blobs_.empty() || int(blobs.size()) != world_size_) return;
    blobs_ = blobs;
  }
  changed_.notify_all();
}

void ControlRendezvous::cancel() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
}

}  // namespace jabas
