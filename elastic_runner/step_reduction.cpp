#include "elastic_runner/step_reduction.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

namespace jabas {

using Clock = std::chrono::steady_clock;

namespace {

// Elements whose copies in double stay in the cache.
constexpr std::int64_t kPiece = 16384;

}  // namespace

StepReduction::StepReduction(const FlatLayout& layout, at::ScalarType type,
                             const std::vector<NamedTensor>& canonical)
    : layout_(layout), canonical_(canonical), tail_(at::empty({0}, type)) {
  for (const auto& buffer : canonical) buffer_elements_ += buffer.tensor.numel();
}

std::int64_t StepReduction::place_of(std::int64_t extra) const {
  const auto& last = layout_.buckets.back();
  return last.end - last.begin + extra;
}

void StepReduction::prepare(const StepPlan& plan, std::vector<Replica*> sources,
                            std::int64_t even_samples) {
  plan_ = &plan;
  sources_ = std::move(sources);
  losses_.assign(sources_.size(), 0.0);
  even_samples_ = even_samples;
  all_reduce_s_ = 0;
  bucket_s_.assign(layout_.buckets.size(), 0.0);
  const std::int64_t size =
      place_of(kBuffers) + buffer_elements_ + static_cast<std::int64_t>(plan.control.size());
  if (tail_.numel() != size) tail_ = at::empty({size}, tail_.options());
  tail_.narrow(0, place_of(0), size - place_of(0)).zero_();
}

// visit(index of the buffer, its place behind the gradients)
template <typename Visit>
void StepReduction::for_each_buffer(const Visit& visit) const {
  std::int64_t offset = place_of(kBuffers);
  for (std::size_t i = 0; i < canonical_.size(); ++i) {
    const auto& canonical = canonical_[i].tensor;
    visit(i, tail_.narrow(0, offset, canonical.numel()).view_as(canonical));
    offset += canonical.numel();
  }
}

void StepReduction::set_buffers(const std::vector<NamedTensor>& buffers) {
  for_each_buffer([&](std::size_t i, at::Tensor place) {
    const auto& canonical = canonical_[i].tensor;
    place.copy_(canonical.is_floating_point() ? buffers[i].tensor : buffers[i].tensor - canonical);
  });
  tail_[place_of(kBuffersSet)] = 1;
}

void StepReduction::commit_buffers() {
  // The sum of one rank's values and everybody's zeros is exact.
  if (extra(kBuffersSet) == 0) return;
  for_each_buffer([&](std::size_t i, const at::Tensor& place) {
    at::Tensor canonical = canonical_[i].tensor;
    if (canonical.is_floating_point())
      canonical.copy_(place);
    else
      canonical.add_(place.to(canonical.scalar_type()));
  });
}

void StepReduction::fill_extras() {
  tail_[place_of(kLoss)] = std::accumulate(losses_.begin(), losses_.end(), 0.0);
  tail_[place_of(kEvenSamples)] = even_samples_;
  const std::int64_t control = place_of(kBuffers) + buffer_elements_;
  for (std::size_t i = 0; i < plan_->control.size(); ++i)
    tail_[control + static_cast<std::int64_t>(i)] = plan_->control[i];
}

// Only now: a source makes its second half when its first measuring step begins.
void StepReduction::choose_sums() {
  if (sources_.empty()) {
    sum_ = at::zeros({layout_.size}, tail_.options());
    if (plan_->measure) even_sum_ = at::zeros_like(sum_);
    return;
  }
  sum_ = sources_.front()->gradient(sources_.front()->halves() - 1);
  if (plan_->measure) even_sum_ = sources_.front()->gradient(0);
}

// Into the last half of the first source. Its first half stays as it is in measuring steps.
void StepReduction::sum_sources(std::int64_t begin, std::int64_t end) {
  at::Tensor sum = sum_.narrow(0, begin, end - begin);
  for (std::size_t i = 0; i < sources_.size(); ++i)
    for (int half = 0; half < sources_[i]->halves(); ++half)
      if (i > 0 || half + 1 < sources_[i]->halves())
        sum.add_(sources_[i]->gradient(half).narrow(0, begin, end - begin));
}

void StepReduction::sum_even_halves() {
  for (std::size_t i = 1; i < sources_.size(); ++i) even_sum_.add_(sources_[i]->gradient(0));
}

void StepReduction::reduce(int bucket, Communicator& communicator,
                           Clock::time_point publish_last_after) {
  const at::NoGradGuard no_grad;
  if (bucket == 0) choose_sums();
  const auto& range = layout_.buckets[static_cast<std::size_t>(bucket)];
  sum_sources(range.begin, range.end);
  if (range.end < layout_.size) {
    at::Tensor values = sum_.narrow(0, range.begin, range.end - range.begin);
    bucket_s_[static_cast<std::size_t>(bucket)] = all_reduce(values, communicator);
    return;
  }
  std::this_thread::sleep_until(publish_last_after);
  bucket_s_.back() = reduce_last(range, communicator);
  if (!plan_->measure) return;
  sum_even_halves();
  all_reduce(even_sum_, communicator);
}

double StepReduction::reduce_last(const FlatLayout::Bucket& bucket, Communicator& communicator) {
  const std::int64_t size = bucket.end - bucket.begin;
  at::Tensor values = sum_.narrow(0, bucket.begin, size);
  tail_.narrow(0, 0, size).copy_(values);
  fill_extras();
  const double seconds = all_reduce(tail_, communicator);
  values.copy_(tail_.narrow(0, 0, size));
  return seconds;
}

double StepReduction::all_reduce(at::Tensor& values, Communicator& communicator) {
  const auto begin = Clock::now();
  const auto count = static_cast<std::size_t>(values.numel());
  if (values.scalar_type() == at::kDouble)
    communicator.all_reduce_sum(values.data_ptr<double>(), count);
  else
    communicator.all_reduce_sum(values.data_ptr<float>(), count);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  all_reduce_s_ += seconds;
  return seconds;
}

std::vector<BucketTime> StepReduction::buckets() const {
  std::vector<BucketTime> times;
  const auto element_bytes = static_cast<double>(tail_.element_size());
  for (std::size_t i = 0; i < bucket_s_.size(); ++i) {
    const auto& range = layout_.buckets[i];
    times.push_back({static_cast<double>(range.end - range.begin) * element_bytes, bucket_s_[i]});
  }
  return times;
}

double StepReduction::extra(std::int64_t index) const {
  return tail_[place_of(index)].item<double>();
}

double StepReduction::loss() const { return extra(kLoss); }

std::vector<float> StepReduction::control() const {
  std::vector<float> sums;
  for (std::size_t i = 0; i < plan_->control.size(); ++i)
    sums.push_back(
        static_cast<float>(extra(kBuffers + buffer_elements_ + static_cast<std::int64_t>(i))));
  return sums;
}

// g = (N_A g_A + N_B g_B) / N; the reduced sums are g and (N_A / N) g_A.
std::optional<StepOutcome::Halves> StepReduction::halves() const {
  if (!plan_->measure) return std::nullopt;
  StepOutcome::Halves halves;
  halves.even_samples = static_cast<std::int64_t>(std::llround(extra(kEvenSamples)));
  halves.odd_samples = plan_->step_samples - halves.even_samples;
  if (halves.even_samples == 0 || halves.odd_samples == 0) return std::nullopt;
  const auto samples = static_cast<double>(plan_->step_samples);
  const double even_scale = samples / static_cast<double>(halves.even_samples),
               odd_scale = samples / static_cast<double>(halves.odd_samples);
  for (std::int64_t begin = 0; begin < layout_.size; begin += kPiece) {
    const std::int64_t size = std::min(kPiece, layout_.size - begin);
    const at::Tensor all = sum_.narrow(0, begin, size).to(at::kDouble);
    const at::Tensor even = even_sum_.narrow(0, begin, size).to(at::kDouble);
    const at::Tensor odd = all - even;
    halves.even_sqr += even_scale * even_scale * even.dot(even).item<double>();
    halves.odd_sqr += odd_scale * odd_scale * odd.dot(odd).item<double>();
    halves.all_sqr += all.dot(all).item<double>();
    halves.inner += even_scale * odd_scale * even.dot(odd).item<double>();
  }
  return halves;
}

}  // namespace jabas
