// The walk of SetEvaluator over the times at which a local batch's GPUs come to hold more workers.
#pragma once

#include <algorithm>

#include "allocator/set_evaluator.h"

namespace jabas {

template <class Visit>
void SetEvaluator::walk(std::size_t batch, std::int64_t first, double from_s, Visit visit) {
  double time_s = std::max(from_s, lines_[batch].first_s);
  std::int64_t sum = 0;
  slots_.clear();
  for (std::size_t t = 0; t < hi_.size(); ++t) {
    if (hi_[t] == 0 || table_.cell(t, batch).max_streams < 1) continue;
    slots_.push_back(slot_at(t, batch, time_s));
    sum += slots_.back().workers * slots_.back().count;
  }
  effort_ += slots_.size();
  while (sum < first || visit(sum, time_s)) {
    ++effort_;
    Slot* next = &slots_.front();
    for (Slot& slot : slots_)
      if (slot.next_s < next->next_s) next = &slot;
    time_s = std::max(time_s, next->next_s);
    sum += (next->next_workers - next->workers) * next->count;
    next->workers = next->next_workers;
    set_next(next, batch);
  }
}

}  // namespace jabas
