// Counts the updates of the weights that all replicas share. Autograd does not see an update that
// comes through another replica (aliases have version counters of their own), and a backward over
// changed weights gives wrong gradients without a word: a pass compares the count at its beginning
// and its end.
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>

namespace jabas {

class WeightsEpoch {
 public:
  // Before an update of the weights.
  void advance() { ++updates_; }
  std::int64_t now() const { return updates_; }

 private:
  std::atomic<std::int64_t> updates_ = 0;
};

}  // namespace jabas
