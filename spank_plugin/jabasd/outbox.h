// Messages to one receiver that wait for their acknowledgement: numbering, acknowledging, sending
// again. Pure. Units: seconds of any steady clock.   Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "allocator/control_messages.h"

namespace jabas {

class Outbox {
 public:
  // Numbers the message from 1 and keeps it until it is acknowledged.
  Envelope add(Message message, double now_s);
  // False when that number was never sent or is acknowledged already.
  bool acknowledge(std::uint64_t number);
  // Unacknowledged for at least `age_s`, in order; they count as sent again now. age_s = 0: all.
  std::vector<Envelope> due(double now_s, double age_s);
  std::size_t waiting() const { return waiting_.size(); }

 private:
  struct Entry {
    Message message;
    double sent_s;
  };
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Entry> waiting_;
};

}  // namespace jabas
