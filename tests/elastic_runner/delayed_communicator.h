// A communicator whose sums take longer: a network with latency, or one that is seen to be waited
// for.
#pragma once

#include <thread>

#include "elastic_runner/communicator.h"

namespace jabas::testing {

class DelayedCommunicator : public Communicator {
 public:
  DelayedCommunicator(Communicator& inner, std::chrono::milliseconds delay)
      : inner_(inner), delay_(delay) {}

  int rank() const override { return inner_.rank(); }
  int world_size() const override { return inner_.world_size(); }
  void set_timeout(std::chrono::milliseconds timeout) override { inner_.set_timeout(timeout); }
  void all_reduce_sum(float* data, std::size_t count) override {
    std::this_thread::sleep_for(delay_);
    inner_.all_reduce_sum(data, count);
  }
  void all_reduce_sum(double* data, std::size_t count) override {
    std::this_thread::sleep_for(delay_);
    inner_.all_reduce_sum(data, count);
  }
  void all_reduce_min(std::int64_t* data, std::size_t count) override {
    inner_.all_reduce_min(data, count);
  }
  void broadcast(void* data, std::size_t bytes, int root) override {
    inner_.broadcast(data, bytes, root);
  }
  void all_gather(const void* in, std::size_t bytes, void* out) override {
    inner_.all_gather(in, bytes, out);
  }
  void barrier(std::chrono::milliseconds deadline) override { inner_.barrier(deadline); }
  void send(int to, const void* data, std::size_t bytes,
            std::chrono::milliseconds deadline) override {
    inner_.send(to, data, bytes, deadline);
  }
  void recv(int from, void* data, std::size_t bytes, std::chrono::milliseconds deadline) override {
    inner_.recv(from, data, bytes, deadline);
  }

 private:
  Communicator& inner_;
  const std::chrono::milliseconds delay_;
};

}  // namespace jabas::testing
