#include "spank_plugin/jabasd/background_calls.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <utility>

#include "allocator/error.h"

namespace jabas {

BackgroundCalls::BackgroundCalls(int threads) : event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_fd_ < 0) throw IoError("cannot make an event descriptor", "eventfd", errno);
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

BackgroundCalls::~BackgroundCalls() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    calls_.clear();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  close(event_fd_);
}

void BackgroundCalls::post(Call call) {
  {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }
  wake_.notify_one();
}

void BackgroundCalls::run_completions() {
  std::uint64_t count = 0;
  if (read(event_fd_, &count, sizeof count) < 0 && errno != EAGAIN && errno != EINTR) {
    throw IoError("cannot read an event descriptor", "eventfd", errno);
  }
  std::vector<Completion> ready;
  {
    const std::lock_guard lock(mutex_);
    ready.swap(completions_);
  }
  for (const Completion& completion : ready) completion();
}

void BackgroundCalls::work() {
  for (;;) {
    Call call;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !calls_.empty(); });
      if (stopping_) return;
      call = std::move(calls_.front());
      calls_.pop_front();
    }
    Completion completion;
    try {
      completion = call();
    } catch (...) {
      completion = [error = std::current_exception()] { std::rethrow_exception(error); };
    }
    {
      const std::lock_guard lock(mutex_);
      completions_.push_back(std::move(completion));
    }
    const std::uint64_t one = 1;
    // Cannot fail: the counter would have to reach 2^64 first.
    if (write(event_fd_, &one, sizeof one) < 0) std::terminate();
  }
}

}  // namespace jabas
