// RendezvousStore over the control channel: publishes this rank's blob as `rendezvous`, waits for
// `peers`.
// Threads: publish and wait_all on the building thread; deliver and cancel on any other.
#pragma once

#include <condition_variable>
#include <mutex>

#include "elastic_runner/communicator.h"
#include "elastic_runner/control_port.h"

namespace jabas {

class ControlRendezvous : public RendezvousStore {
 public:
  ControlRendezvous(ControlPort& control, int generation, int attempt, int rank, int world_size);
  void publish(const std::string& blob) override;
  const std::vector<std::string>& wait_all(std::chrono::milliseconds deadline) override;

  void deliver(const std::vector<std::string>& blobs);
  void cancel();

 private:
  ControlPort& control_;
  const int generation_, attempt_, rank_, world_size_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<std::string> blobs_;
  bool cancelled_ = false;
};

}  // namespace jabas
