#include "elastic_runner/stop_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "allocator/error.h"

namespace jabas {
namespace {

sigset_t caught() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&set, signal);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = caught();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ < 0) throw IoError("cannot wait for signals", "signalfd", errno);
}

StopSignals::~StopSignals() { ::close(fd_); }

int StopSignals::take() {
  signalfd_siginfo info{};
  while (::read(fd_, &info, sizeof info) == ssize_t(sizeof info)) {
    if (info.ssi_signo != SIGCHLD) return int(info.ssi_signo);
  }
  return 0;
}

}  // namespace jabas
