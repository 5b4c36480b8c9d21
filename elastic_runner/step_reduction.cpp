#include "elastic_runner/step_reduction.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numeric>
#include <thread>

namespace jabas {

using Clock = std::chrono::steady_clock;

StepReduction::StepReduction(const FlatLayout& layout, at::ScalarType type,
                             const std::vector<NamedTensor>& canonical)
    : layout_(layout), canonical_(canonical) {
  for (const auto& buffer : canonical) buffer_elements_ += buffer.tensor.numel();
  sums_ = at::zeros({layout.size + kBuffers + buffer_elements_}, type);
}

void StepReduction::prepare(const StepPlan& plan, std::vector<Replica*> sources,
                            std::int64_t even_samples) {
  plan_ = &plan;
  sources_ = std::move(sources);
  losses_.assign(sources_.size(), 0.0);
  even_samples_ = even_samples;
  all_reduce_s_ = 0;
  const std::int64_t size =
      layout_.size + kBuffers + buffer_elements_ + static_cast<std::int64_t>(plan.control.size());
  if (sums_.numel() != size) sums_ = at::empty({size}, sums_.options());
  sums_.narrow(0, layout_.size, size - layout_.size).zero_();
}

// visit(index of the buffer, its place behind the gradients)
template <typename Visit>
void StepReduction::for_each_buffer(const Visit& visit) const {
  std::int64_t offset = layout_.size + kBuffers;
  for (std::size_t i = 0; i < canonical_.size(); ++i) {
    const auto& canonical = canonical_[i].tensor;
    visit(i, sums_.narrow(0, offset, canonical.numel()).view_as(canonical));
    offset += canonical.numel();
  }
}

void StepReduction::set_buffers(const std::vector<NamedTensor>& buffers) {
  for_each_buffer([&](std::size_t i, at::Tensor place) {
    const auto& canonical = canonical_[i].tensor;
    place.copy_(canonical.is_floating_point() ? buffers[i].tensor : buffers[i].tensor - canonical);
  });
  sums_[layout_.size + kBuffersSet] = 1;
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
  sums_[layout_.size + kLoss] = std::accumulate(losses_.begin(), losses_.end(), 0.0);
  sums_[layout_.size + kEvenSamples] = even_samples_;
  const std::int64_t control = layout_.size + kBuffers + buffer_elements_;
  for (std::size_t i = 0; i < plan_->control.size(); ++i)
    sums_[control + static_cast<std::int64_t>(i)] = plan_->control[i];
}

void StepReduction::sum_sources(std::int64_t begin, std::int64_t end) {
  at::Tensor sum = sums_.narrow(0, begin, end - begin);
  sum.zero_();
  for (Replica* source : sources_)
    for (int half = 0; half < source->halves(); ++half)
      sum.add_(source->gradient(half).narrow(0, begin, end - begin));
}

void StepReduction::reduce(int bucket, Communicator& communicator,
                           Clock::time_point publish_last_after) {
  const at::NoGradGuard no_grad;
  const auto& range = layout_.buckets[static_cast<std::size_t>(bucket)];
  const bool last = range.end == layout_.size;
  sum_sources(range.begin, range.end);
  if (last) {
    fill_extras();
    std::this_thread::sleep_until(publish_last_after);
  }
  at::Tensor values =
      sums_.narrow(0, range.begin, (last ? sums_.numel() : range.end) - range.begin);
  all_reduce(values, communicator);
  if (!last || !plan_->measure) return;
  even_sums_ = at::zeros({layout_.size}, sums_.options());
  for (Replica* source : sources_) even_sums_.add_(source->gradient(0));
  all_reduce(even_sums_, communicator);
}

void StepReduction::all_reduce(at::Tensor& values, Communicator& communicator) {
  const auto begin = Clock::now();
  const auto count = static_cast<std::size_t>(values.numel());
  if (values.scalar_type() == at::kDouble)
    communicator.all_reduce_sum(values.data_ptr<double>(), count);
  else
    communicator.all_reduce_sum(values.data_ptr<float>(), count);
  all_reduce_s_ += std::chrono::duration<double>(Clock::now() - begin).count();
}

double StepReduction::extra(std::int64_t index) const {
  return sums_[layout_.size + index].item<double>();
}

at::Tensor StepReduction::gradient() const { return sums_.narrow(0, 0, layout_.size); }

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
  const at::Tensor all = gradient().to(at::kDouble), even_sum = even_sums_.to(at::kDouble);
  const at::Tensor even = even_sum * (samples / static_cast<double>(halves.even_samples));
  const at::Tensor odd = (all - even_sum) * (samples / static_cast<double>(halves.odd_samples));
  halves.even_sqr = even.mul(even).sum().item<double>();
  halves.odd_sqr = odd.mul(odd).sum().item<double>();
  halves.all_sqr = all.mul(all).sum().item<double>();
  halves.inner = even.mul(odd).sum().item<double>();
  return halves;
}

}  // namespace jabas
