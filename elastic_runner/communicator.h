// Collective operations among the ranks of one generation. Implementations: gloo_communicator (CPU), later nccl.
//
// Ownership: buffers belong to the caller and must outlive the call.   Threads: one thread at a time per communicator,
// except that send/recv to distinct peers may run beside nothing else.
// Errors: CommError on time-out or a lost peer; afterwards the communicator is dead: destroy it and build a new one.
//         Destroying one frees peers that are blocked in it.
// Every operation has a deadline: the communicator's time-out unless one is given.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "allocator/error.h"

namespace jabas {

struct CommError : Error {
  explicit CommError(const std::string& text) : Error(ExitCode::kFailed, text) {}
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  virtual void set_timeout(std::chrono::milliseconds timeout) = 0;

  virtual void all_reduce_sum(float* data, std::size_t count) = 0;
  virtual void all_reduce_sum(double* data, std::size_t count) = 0;
  virtual void all_reduce_min(std::int64_t* data, std::size_t count) = 0;
  virtual void broadcast(void* data, std::size_t bytes, int root) = 0;
  // `out` holds world_size · bytes, ordered by rank.
  virtual void all_gather(const void* in, std::size_t bytes, void* out) = 0;
  virtual void barrier(std::chrono::milliseconds deadline) = 0;
  virtual void send(int to, const void* data, std::size_t bytes, std::chrono::milliseconds deadline) = 0;
  virtual void recv(int from, void* data, std::size_t bytes, std::chrono::milliseconds deadline) = 0;
};

// Exchanges opaque rendezvous blobs of one (generation, attempt) among its ranks.
class RendezvousStore {
 public:
  virtual ~RendezvousStore() = default;
  // Publishes this rank's blob; called once.
  virtual void publish(const std::string& blob) = 0;
  // The blobs of all ranks, by rank. Blocks until all are there; CommError when `deadline` passes or it was cancelled.
  virtual const std::vector<std::string>& wait_all(std::chrono::milliseconds deadline) = 0;
};

}  // namespace jabas
