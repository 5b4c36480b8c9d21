#include "allocator/worker_sums.h"

#include <algorithm>
#include <bit>

namespace jabas {
namespace {

// A set of numbers 0..size-1, for sums.
class NumberSet {
 public:
  explicit NumberSet(std::int64_t size) : words_(std::size_t(size + 63) / 64), size_(size) {}

  void insert(std::int64_t number) {
    words_[std::size_t(number) / 64] |= std::uint64_t{1} << (number % 64);
  }
  bool contains(std::int64_t number) const {
    return words_[std::size_t(number) / 64] >> (number % 64) & 1;
  }

  // {a + b}, without the sums that are too large to matter. `a` is taken as runs of consecutive
  // numbers: sets of sums soon have few of them.
  friend NumberSet operator+(const NumberSet& a, const NumberSet& b) {
    NumberSet sums(a.size_);
    for (std::int64_t first = a.next(0, true); first < a.size_;) {
      const std::int64_t end = a.next(first, false);
      sums.add_shifted(b.smeared(end - first - 1), first);
      first = a.next(end, true);
    }
    return sums;
  }

 private:
  // The least number ≥ from that is in the set (or, wanted == false, is not); size if there is
  // none.
  std::int64_t next(std::int64_t from, bool wanted) const {
    for (std::size_t i = std::size_t(from) / 64; i < words_.size(); ++i) {
      std::uint64_t word = wanted ? words_[i] : ~words_[i];
      if (i == std::size_t(from) / 64) word &= ~std::uint64_t{0} << (from % 64);
      if (word != 0) return std::min(size_, std::int64_t(i * 64) + std::countr_zero(word));
    }
    return size_;
  }
  // {b + 0, …, b + by}
  NumberSet smeared(std::int64_t by) const {
    NumberSet result = *this;
    for (std::int64_t done = 0; done < by;) {
      const std::int64_t more = std::min(done + 1, by - done);
      result.add_shifted(NumberSet(result), more);
      done += more;
    }
    return result;
  }
  void add_shifted(const NumberSet& other, std::int64_t by) {
    const std::size_t words = std::size_t(by) / 64, bits = std::size_t(by) % 64;
    for (std::size_t i = words_.size(); i-- > words;) {
      words_[i] |= other.words_[i - words] << bits;
      if (bits > 0 && i > words) words_[i] |= other.words_[i - words - 1] >> (64 - bits);
    }
  }

  std::vector<std::uint64_t> words_;
  std::int64_t size_;
};

// What one GPU can differ from its most (or least) workers, up to `range`.
NumberSet differences(const ShareLimits& type, std::int64_t from, std::int64_t range) {
  NumberSet result(range + 1);
  for (std::size_t v = 1; v <= type.passes.size(); ++v) {
    const auto streams = std::int64_t(v);
    const std::int64_t least = std::max<std::int64_t>(from - range, 1);
    const std::int64_t first = (least + streams - 1) / streams;
    const std::int64_t last = std::min(type.passes[v - 1], (from + range) / streams);
    for (std::int64_t passes = first; passes <= last; ++passes)
      result.insert(std::abs(streams * passes - from));
  }
  return result;
}

}  // namespace

std::int64_t ShareLimits::least_workers() const {
  for (std::size_t v = 1; v <= passes.size(); ++v)
    if (passes[v - 1] > 0) return std::int64_t(v);
  return 0;
}

std::int64_t ShareLimits::most_workers() const {
  std::int64_t most = 0;
  for (std::size_t v = 1; v <= passes.size(); ++v)
    most = std::max(most, std::int64_t(v) * passes[v - 1]);
  return most;
}

bool is_sum(const std::vector<ShareLimits>& types, std::int64_t workers) {
  std::int64_t too_many = -workers, too_few = workers;
  for (const ShareLimits& type : types) {
    too_many += type.gpus * type.most_workers();
    too_few -= type.gpus * type.least_workers();
  }
  if (too_many < 0 || too_few < 0) return false;
  const bool from_most = too_many < too_few;
  const std::int64_t wanted = from_most ? too_many : too_few;
  NumberSet sums(wanted + 1);
  sums.insert(0);
  for (const ShareLimits& type : types) {
    NumberSet power =
        differences(type, from_most ? type.most_workers() : type.least_workers(), wanted);
    for (std::int64_t left = type.gpus; left > 0; left /= 2) {
      if (left % 2 == 1) sums = power + sums;
      if (left > 1) power = power + power;
    }
  }
  return sums.contains(wanted);
}

}  // namespace jabas
