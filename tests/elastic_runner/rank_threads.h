// Ranks as threads of one test: run_ranks() joins all and rethrows the first failure, MemoryStore
// is their rendezvous.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "elastic_runner/communicator.h"
#include "elastic_runner/gloo_communicator.h"

namespace jabas::testing {

// The blobs of one (generation, attempt), shared by the stores of its ranks.
class MemoryBlobs {
 public:
  explicit MemoryBlobs(int world_size) : blobs_(static_cast<std::size_t>(world_size)) {}

  void publish(int rank, const std::string& blob) {
    const std::lock_guard lock(mutex_);
    blobs_.at(static_cast<std::size_t>(rank)) = blob;
    ++published_;
    changed_.notify_all();
  }
  const std::vector<std::string>& wait_all(std::chrono::milliseconds deadline) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, deadline, [&] { return published_ == blobs_.size(); }))
      throw CommError("rendezvous: " + std::to_string(published_) + " of " +
                      std::to_string(blobs_.size()) + " ranks came");
    return blobs_;
  }

 private:
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<std::string> blobs_;
  std::size_t published_ = 0;
};

class MemoryStore : public RendezvousStore {
 public:
  MemoryStore(MemoryBlobs& blobs, int rank) : blobs_(blobs), rank_(rank) {}
  void publish(const std::string& blob) override { blobs_.publish(rank_, blob); }
  const std::vector<std::string>& wait_all(std::chrono::milliseconds deadline) override {
    return blobs_.wait_all(deadline);
  }

 private:
  MemoryBlobs& blobs_;
  const int rank_;
};

inline void run_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(rank);
      } catch (...) {  // rethrown by the test's own thread
        failures[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

// Runs body(communicator) once per rank of a fresh full mesh.
inline void run_ranks(int world_size, const std::function<void(Communicator&)>& body,
                      const GlooOptions& options = {}) {
  MemoryBlobs blobs(world_size);
  run_threads(world_size, [&](int rank) {
    MemoryStore store(blobs, rank);
    const auto communicator = make_gloo_communicator(store, rank, world_size, options);
    body(*communicator);
  });
}

}  // namespace jabas::testing
