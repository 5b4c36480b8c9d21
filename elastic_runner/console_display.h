// What `train` shows while it runs: a bar on a terminal, plain lines at least every few seconds
// otherwise.
//   epoch 2/5 · step 437 · loss 0.4312 · 5120 samples/s · B 256 · 2×v100 · 0.012 $ · 3m05s left
//
// Units: as in Status.
// Threads: one.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "allocator/control_messages.h"

namespace jabas {

// The line of a status; parts that are unknown are left out.
std::string progress_text(const Status& status, int epochs);
// "47s", "3m05s", "2h10m".
std::string duration_text(double seconds);

class ConsoleDisplay {
 public:
  using Clock = std::chrono::steady_clock;
  ConsoleDisplay(std::FILE* out, bool terminal, int epochs);
  ~ConsoleDisplay();
  ConsoleDisplay(const ConsoleDisplay&) = delete;
  ConsoleDisplay& operator=(const ConsoleDisplay&) = delete;

  void show(const Status& status, Clock::time_point now);
  // A line of its own that stays.
  void print(const std::string& line);

 private:
  void clear_bar();
  std::FILE* out_;
  const bool terminal_;
  const int epochs_;
  bool bar_shown_ = false;
  std::string last_note_;
  Clock::time_point next_line_{};
  std::string last_line_;
};

}  // namespace jabas
