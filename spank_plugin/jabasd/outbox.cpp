#include "spank_plugin/jabasd/outbox.h"

#include <utility>

namespace jabas {

Envelope Outbox::add(Message message, double now_s) {
  const std::uint64_t number = ++last_;
  waiting_.emplace(number, Entry{message, now_s});
  return {number, std::move(message)};
}

bool Outbox::acknowledge(std::uint64_t number) { return waiting_.erase(number) == 1; }

std::vector<Envelope> Outbox::due(double now_s, double age_s) {
  std::vector<Envelope> result;
  for (auto& [number, entry] : waiting_) {
    // From the first late one on, everything goes again, so that the order is kept.
    if (result.empty() && now_s - entry.sent_s < age_s) continue;
    entry.sent_s = now_s;
    result.push_back({number, entry.message});
  }
  return result;
}

}  // namespace jabas
