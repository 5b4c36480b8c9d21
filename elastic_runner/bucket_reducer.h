// Reduces gradient buckets on one communication thread while backward still produces later ones.
//
// Every replica that takes part arrives once at every bucket, in any order; the last arrival makes
// the bucket ready. The communication thread takes ready buckets strictly in index order, so that
// all ranks reduce in the same order. Threads: begin() and finish() by one caller; arrive() and
// abandon() by the replicas. Errors: finish() rethrows what the reduction threw; arrivals never
// block on it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "elastic_runner/stream_worker.h"

namespace jabas {

class BucketReducer {
 public:
  // `begin` runs first on the communication thread.
  BucketReducer(int buckets, std::function<void()> begin);

  // `reduce(bucket)` runs on the communication thread once `replicas` have arrived at it; with 0
  // replicas at once. Without `overlap` finish() does it, on its thread, once all buckets are
  // ready: nothing is hidden behind backward, but no thread has to be woken either.
  void begin(int replicas, std::function<void(int)> reduce, bool overlap = true);
  void arrive(int bucket);
  // A replica failed: buckets that are not ready yet will never be.
  void abandon();
  // Waits until all buckets are reduced, abandoned, or a reduction failed. Without overlap only
  // after every replica has arrived everywhere, or abandon().
  void finish();
  // When the last bucket became ready, that is when the replicas' work was done. After finish().
  std::chrono::steady_clock::time_point last_ready_at() const { return last_ready_at_; }

 private:
  void make_ready(int bucket);
  void reduce_in_order();

  const int buckets_;
  std::function<void(int)> reduce_;
  std::vector<std::atomic<int>> missing_;  // arrivals, by bucket
  std::mutex mutex_;                       // guards ready_, abandoned_ and last_ready_at_
  std::condition_variable changed_;
  std::vector<bool> ready_;
  bool abandoned_ = false;
  bool overlap_ = true;
  std::chrono::steady_clock::time_point last_ready_at_;
  StreamWorker thread_;
};

}  // namespace jabas
