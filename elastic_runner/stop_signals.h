// SIGINT, SIGTERM and SIGCHLD as readable events of one descriptor, for programs that wait on
// descriptors. Construct before any thread is started: the signals stay blocked in all of them.
#pragma once

namespace jabas {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  int fd() const { return fd_; }
  // The next SIGINT or SIGTERM that has arrived; 0 if none. SIGCHLD only wakes.
  int take();

 private:
  int fd_;
};

}  // namespace jabas
