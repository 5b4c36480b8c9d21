// Writes checkpoints in the background from in-memory snapshots, so that training waits only for
// the copy.
//
// At most one is being written and one waits; a newer snapshot replaces the waiting one.
// Ownership: snapshots are copies. Their memory is kept for the next one: as much as the state,
// from the first checkpoint on; twice as much if one is taken while another is still being written.
// Threads: one caller; a thread of its own writes.
// Errors: a failed write is reported on stderr with its path, and the training goes on; `finish`
//         tells.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "elastic_runner/checkpoint_store.h"
#include "elastic_runner/snapshot_memory.h"

namespace jabas {

class CheckpointWriter {
 public:
  CheckpointWriter(CheckpointStore store, std::string identity);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Copies the tensors and returns.
  void snapshot(const std::vector<StateTensor>& tensors, const RunState& state);
  // Waits until everything is written or failed. Returns whether the last write succeeded within
  // the deadline.
  bool finish(std::chrono::seconds deadline);

 private:
  struct Snapshot {
    std::vector<StateTensor> tensors;
    SnapshotMemory memory;
    RunState state;
  };
  void run();
  CheckpointStore store_;
  const std::string identity_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::unique_ptr<Snapshot> waiting_;
  SnapshotMemory spare_;  // of the last snapshot that is not needed any more
  bool writing_ = false, stopping_ = false, last_succeeded_ = true;
  std::thread thread_;
};

}  // namespace jabas
