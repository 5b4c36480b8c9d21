// Runs blocking calls (Slurm, HTTP) on threads of their own and hands the results back to the event
// loop.
//
// A call returns a completion; the loop runs it in run_completions() after event_fd() became
// readable. Every call must have a deadline of its own: the destructor waits for those in flight.
// Threads: post() and run_completions() from the loop only.   Errors: an exception of a call is
// rethrown by run_completions(), on the loop.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace jabas {

class BackgroundCalls {
 public:
  using Completion = std::function<void()>;
  using Call = std::function<Completion()>;

  explicit BackgroundCalls(int threads);
  ~BackgroundCalls();
  BackgroundCalls(const BackgroundCalls&) = delete;
  BackgroundCalls& operator=(const BackgroundCalls&) = delete;

  void post(Call call);
  int event_fd() const { return event_fd_; }
  void run_completions();

 private:
  void work();

  std::mutex mutex_;  // guards calls_, completions_, stopping_
  std::condition_variable wake_;
  std::deque<Call> calls_;
  std::vector<Completion> completions_;
  bool stopping_ = false;
  int event_fd_ = -1;
  std::vector<std::thread> threads_;
};

}  // namespace jabas
