// One step's sums: gradients of all replicas and ranks by bucket, and what rides behind the last
// bucket: loss, samples of even virtual workers, virtual worker 0's model buffers, the control
// vector.
//
// Gradients are sums of scaled losses (scale 1/step samples), so the total over all virtual workers
// is the mean gradient. They are summed in the buffers of the first replica: gradients cost memory
// once per replica and no more. Threads: prepare() and the results by the caller of the step;
// set_loss() and set_buffers() by replicas before they arrive at the last bucket; reduce() by the
// communication thread. Errors: CommError from the communicator; nothing outside this object has
// changed then.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <optional>
#include <vector>

#include "elastic_runner/flat_layout.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/replica.h"

namespace jabas {

class StepReduction {
 public:
  // `canonical` are the buffers every rank holds after a step; floats are carried as values,
  // integers as increments.
  StepReduction(const FlatLayout& layout, at::ScalarType type,
                const std::vector<NamedTensor>& canonical);

  // `sources`: the replicas that have work in this step, in the order of their summation. Zeroes
  // what rides along.
  void prepare(const StepPlan& plan, std::vector<Replica*> sources, std::int64_t even_samples);
  // By the replica that ran virtual worker 0, with its buffers after the pass.
  void set_buffers(const std::vector<NamedTensor>& buffers);
  // Loss of one replica, already scaled. Summed in the order of `source`.
  void set_loss(std::size_t source, double loss) { losses_[source] = loss; }

  // Sums the bucket over the sources, then over the ranks. Before the last bucket, which takes
  // along everything else, it sleeps until `publish_last_after`.
  void reduce(int bucket, Communicator& communicator,
              std::chrono::steady_clock::time_point publish_last_after);

  // Results, valid once the last bucket is reduced.
  at::Tensor& gradient() { return sum_; }  // the caller may change it, after halves()
  double loss() const;
  std::vector<float> control() const;
  std::optional<StepOutcome::Halves> halves() const;
  double all_reduce_s() const { return all_reduce_s_; }  // of this rank, with its waiting
  std::vector<BucketTime> buckets() const;               // the same by bucket
  // Writes virtual worker 0's buffers into the canonical ones.
  void commit_buffers();

 private:
  // Behind the gradients.
  enum Extra : std::int64_t { kLoss, kEvenSamples, kBuffersSet, kBuffers };

  template <typename Visit>
  void for_each_buffer(const Visit& visit) const;
  void choose_sums();
  void fill_extras();
  void sum_sources(std::int64_t begin, std::int64_t end);
  void sum_even_halves();
  // Their seconds.
  double all_reduce(at::Tensor& values, Communicator& communicator);
  double reduce_last(const FlatLayout::Bucket& bucket, Communicator& communicator);
  // Where it lies in tail_.
  std::int64_t place_of(std::int64_t extra) const;
  double extra(std::int64_t index) const;

  const FlatLayout& layout_;
  const std::vector<NamedTensor>& canonical_;
  std::int64_t buffer_elements_ = 0;
  std::vector<Replica*> sources_;
  std::vector<double> losses_;
  const StepPlan* plan_ = nullptr;
  std::int64_t even_samples_ = 0;
  at::Tensor sum_;       // gradients: the last half of the first source
  at::Tensor even_sum_;  // in measuring steps, of even virtual workers: its first half
  at::Tensor tail_;      // the last bucket, then the extras
  double all_reduce_s_ = 0;
  std::vector<double> bucket_s_;
};

}  // namespace jabas
