// Communicator among threads of one process, and its rendezvous: rank 0's blob names the mesh.
// Keeps the contract: an error kills it, destroying one frees the peers that are blocked in it,
// every wait has a deadline.
#pragma once

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "elastic_runner/communicator.h"

namespace jabas::testing {

class MemoryMesh {
 public:
  explicit MemoryMesh(int size) : size_(size), parts_(std::size_t(size)) {}

  void leave() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    changed_.notify_all();
  }

  // All ranks hand in `mine`; each gets all of them.
  std::vector<std::string> exchange(int rank, std::string mine, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    const auto wait = [&](auto ready) {
      const bool in_time = changed_.wait_for(lock, timeout, [&] { return broken_ || ready(); });
      if (ready()) return;
      broken_ = true;
      changed_.notify_all();
      throw CommError(in_time ? "a peer is gone" : "time-out");
    };
    wait([&] { return phase_ == 0; });
    parts_[std::size_t(rank)] = std::move(mine);
    if (++entered_ == size_) {
      phase_ = 1;
      changed_.notify_all();
    }
    const auto round = round_;
    wait([&] { return phase_ == 1 && round_ == round; });
    auto all = parts_;
    if (--entered_ == 0) {
      phase_ = 0;
      ++round_;
      changed_.notify_all();
    }
    return all;
  }

  void send(int from, int to, std::string data) {
    const std::lock_guard lock(mutex_);
    if (broken_) throw CommError("a peer is gone");
    mail_[{from, to}].push_back(std::move(data));
    changed_.notify_all();
  }
  std::string recv(int from, int to, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    auto& box = mail_[{from, to}];
    const bool in_time = changed_.wait_for(lock, timeout, [&] { return broken_ || !box.empty(); });
    if (box.empty()) throw CommError(in_time ? "a peer is gone" : "time-out");
    std::string data = std::move(box.front());
    box.pop_front();
    return data;
  }

 private:
  const int size_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<std::string> parts_;
  int entered_ = 0, phase_ = 0;  // phase 0: handing in, 1: taking out
  std::uint64_t round_ = 0;
  bool broken_ = false;
  std::map<std::pair<int, int>, std::deque<std::string>> mail_;
};

class MemoryCommunicator : public Communicator {
 public:
  MemoryCommunicator(std::shared_ptr<MemoryMesh> mesh, int rank, int size)
      : mesh_(std::move(mesh)), rank_(rank), size_(size) {}
  ~MemoryCommunicator() override { mesh_->leave(); }

  int rank() const override { return rank_; }
  int world_size() const override { return size_; }
  void set_timeout(std::chrono::milliseconds timeout) override { timeout_ = timeout; }
  void all_reduce_sum(float* data, std::size_t count) override { sum(data, count); }
  void all_reduce_sum(double* data, std::size_t count) override { sum(data, count); }
  void all_reduce_min(std::int64_t* data, std::size_t count) override {
    for (const auto& part : exchange(data, count * sizeof *data, timeout_)) {
      for (std::size_t i = 0; i < count; ++i) {
        std::int64_t value = 0;
        std::memcpy(&value, part.data() + i * sizeof value, sizeof value);
        data[i] = std::min(data[i], value);
      }
    }
  }
  void broadcast(void* data, std::size_t bytes, int root) override {
    const auto all = exchange(data, bytes, timeout_);
    std::memcpy(data, all[std::size_t(root)].data(), bytes);
  }
  void all_gather(const void* in, std::size_t bytes, void* out) override {
    const auto all = exchange(in, bytes, timeout_);
    for (int r = 0; r < size_; ++r)
      std::memcpy(static_cast<char*>(out) + std::size_t(r) * bytes, all[std::size_t(r)].data(),
                  bytes);
  }
  void barrier(std::chrono::milliseconds deadline) override { exchange("", 0, deadline); }
  void send(int to, const void* data, std::size_t bytes, std::chrono::milliseconds) override {
    mesh_->send(rank_, to, std::string(static_cast<const char*>(data), bytes));
  }
  void recv(int from, void* data, std::size_t bytes, std::chrono::milliseconds deadline) override {
    std::memcpy(data, mesh_->recv(from, rank_, deadline).data(), bytes);
  }

 private:
  std::vector<std::string> exchange(const void* data, std::size_t bytes,
                                    std::chrono::milliseconds timeout) {
    return mesh_->exchange(rank_, std::string(static_cast<const char*>(data), bytes), timeout);
  }
  template <typename T>
  void sum(T* data, std::size_t count) {
    const auto all = exchange(data, count * sizeof *data, timeout_);
    for (std::size_t i = 0; i < count; ++i) {
      T total = 0;
      for (const auto& part : all) {
        T value;
        std::memcpy(&value, part.data() + i * sizeof value, sizeof value);
        total += value;
      }
      data[i] = total;
    }
  }
  std::shared_ptr<MemoryMesh> mesh_;
  const int rank_, size_;
  std::chrono::milliseconds timeout_{20000};
};

// All meshes of a test, found by the name that rank 0 publishes.
class MemoryNetwork {
 public:
  std::unique_ptr<Communicator> connect(RendezvousStore& store, int rank, int size) {
    std::string name;
    if (rank == 0) {
      const std::lock_guard lock(mutex_);
      name = "mesh " + std::to_string(meshes_.size());
      meshes_[name] = std::make_shared<MemoryMesh>(size);
    }
    store.publish(name.empty() ? "rank " + std::to_string(rank) : name);
    const auto& blobs = store.wait_all(std::chrono::milliseconds(20000));
    const std::lock_guard lock(mutex_);
    return std::make_unique<MemoryCommunicator>(meshes_.at(blobs.front()), rank, size);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<MemoryMesh>> meshes_;
};

}  // namespace jabas::testing
