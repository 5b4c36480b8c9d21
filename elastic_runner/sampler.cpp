#include "elastic_runner/sampler.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "allocator/error.h"

namespace jabas {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): one addition and three mixes per number.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t state) : state_(state) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // Uniform in [0, bound): values of the incomplete last block are drawn again.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t limit = ~std::uint64_t{0} - (~std::uint64_t{0} % bound + 1) % bound;
    std::uint64_t value = next();
    while (value > limit) value = next();
    return value % bound;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

std::vector<std::int64_t> epoch_order(std::uint64_t seed, int epoch, std::int64_t samples) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), 0);
  SplitMix mixer(seed);
  SplitMix random(mixer.next() ^ static_cast<std::uint64_t>(epoch) * 0xd1342543de82ef95ULL);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

StepSlices next_step(const std::vector<std::int64_t>& order, std::int64_t consumed,
                     std::int64_t local_batch, std::int64_t virtual_workers, bool batch_norm) {
  const auto total = static_cast<std::int64_t>(order.size());
  JABAS_ASSERT(consumed >= 0 && consumed < total && local_batch > 0 && virtual_workers > 0,
               "next_step: consumed " + std::to_string(consumed) + " of " + std::to_string(total));
  const std::int64_t left = total - consumed;
  const std::int64_t batch = local_batch * virtual_workers;
  const bool joins = batch_norm && left == batch + 1;

  StepSlices step;
  step.samples = joins ? left : std::min(left, batch);
  step.full = step.samples == batch;
  std::int64_t count = virtual_workers;
  if (left < batch) {
    count = (left + local_batch - 1) / local_batch;
    if (batch_norm) count = std::max<std::int64_t>(1, std::min(count, left / 2));
  }
  const std::int64_t regular = joins ? batch : step.samples;
  auto next = order.begin() + consumed;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t size = regular / count + (k < regular % count ? 1 : 0);
    step.slices.emplace_back(next, next + size);
    next += size;
  }
  if (joins) step.slices.front().push_back(*next);
  return step;
}

std::vector<std::vector<std::int64_t>> slices_of_rank(const StepSlices& step, std::int64_t first,
                                                      std::int64_t count) {
  std::vector<std::vector<std::int64_t>> mine(static_cast<std::size_t>(count));
  const auto end = std::min<std::int64_t>(first + count, std::ssize(step.slices));
  for (std::int64_t k = first; k < end; ++k) {
    mine[static_cast<std::size_t>(k - first)] = step.slices[static_cast<std::size_t>(k)];
  }
  return mine;
}

}  // namespace jabas
