#include "elastic_runner/bucket_reducer.h"

namespace jabas {

BucketReducer::BucketReducer(int buckets, std::function<void()> begin)
    : buckets_(buckets),
      missing_(static_cast<std::size_t>(buckets)),
      ready_(static_cast<std::size_t>(buckets)),
      thread_(std::move(begin)) {}

void BucketReducer::begin(int replicas, std::function<void(int)> reduce, bool overlap) {
  reduce_ = std::move(reduce);
  overlap_ = overlap;
  for (auto& missing : missing_) missing = replicas;
  ready_.assign(ready_.size(), replicas == 0);
  abandoned_ = false;
  last_ready_at_ = std::chrono::steady_clock::now();  // stays so without replicas
  if (overlap_) thread_.start([this] { reduce_in_order(); });
}

void BucketReducer::arrive(int bucket) {
  if (--missing_[static_cast<std::size_t>(bucket)] == 0) make_ready(bucket);
}

void BucketReducer::make_ready(int bucket) {
  const std::lock_guard lock(mutex_);
  ready_[static_cast<std::size_t>(bucket)] = true;
  if (bucket == buckets_ - 1) last_ready_at_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

void BucketReducer::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

void BucketReducer::finish() {
  if (overlap_)
    thread_.wait();
  else
    reduce_in_order();
}

void BucketReducer::reduce_in_order() {
  for (int bucket = 0; bucket < buckets_; ++bucket) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return abandoned_ || ready_[static_cast<std::size_t>(bucket)]; });
      if (abandoned_) return;
    }
    reduce_(bucket);
  }
}

}  // namespace jabas
