#include "elastic_runner/file_rendezvous.h"

#include <cerrno>
#include <filesystem>
#include <thread>

#include "allocator/text_file.h"

namespace jabas {

FileRendezvous::FileRendezvous(std::string directory, int rank, int world_size)
    : directory_(std::move(directory)), rank_(rank), world_size_(world_size) {}

std::string FileRendezvous::path(int rank) const {
  return directory_ + "/rank-" + std::to_string(rank);
}

// Renamed when complete: who sees the file reads all of it.
void FileRendezvous::publish(const std::string& blob) {
  const std::string temporary = path(rank_) + ".new";
  write_text_file(temporary, blob, "an address");
  std::error_code error;
  std::filesystem::rename(temporary, path(rank_), error);
  if (error) throw IoError("cannot publish an address", path(rank_), error.value());
}

const std::vector<std::string>& FileRendezvous::wait_all(std::chrono::milliseconds deadline) {
  constexpr std::chrono::milliseconds kPoll{20};
  const auto end = std::chrono::steady_clock::now() + deadline;
  blobs_.clear();
  while (int(blobs_.size()) < world_size_) {
    const std::string next = path(int(blobs_.size()));
    if (std::filesystem::exists(next)) {
      blobs_.push_back(read_text_file(next, "an address"));
      continue;
    }
    if (std::chrono::steady_clock::now() >= end) {
      throw CommError("rank " + std::to_string(blobs_.size()) + " of " +
                      std::to_string(world_size_) + " did not come: no " + next + " after " +
                      std::to_string(deadline.count()) + " ms");
    }
    std::this_thread::sleep_for(kPoll);
  }
  return blobs_;
}

}  // namespace jabas
