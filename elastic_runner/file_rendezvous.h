// RendezvousStore in a folder that all ranks see: one file per rank.
// Threads: one per object.   Errors: IoError; CommError when the deadline passes.
#pragma once

#include "elastic_runner/communicator.h"

namespace jabas {

class FileRendezvous : public RendezvousStore {
 public:
  // `directory` is there and used for this one rendezvous only.
  FileRendezvous(std::string directory, int rank, int world_size);
  void publish(const std::string& blob) override;
  const std::vector<std::string>& wait_all(std::chrono::milliseconds deadline) override;

 private:
  std::string path(int rank) const;
  const std::string directory_;
  const int rank_, world_size_;
  std::vector<std::string> blobs_;
};

}  // namespace jabas
