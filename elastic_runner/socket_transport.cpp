#include "elastic_runner/socket_transport.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "allocator/error.h"

namespace jabas {
namespace {
constexpr int kBufferBytes = 4 << 20;  // a packet must fit; the kernel caps it at its own limit
}

std::pair<int, int> make_socket_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
    throw IoError("cannot make a socket pair", "control channel", errno);
  }
  return {fds[0], fds[1]};
}

SocketTransport::SocketTransport(int fd) : fd_(fd) {
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDBUF, &kBufferBytes, sizeof kBufferBytes);
  ::fcntl(fd_, F_SETFD, FD_CLOEXEC);
}

SocketTransport::~SocketTransport() { ::close(fd_); }

void SocketTransport::send(const std::string& text) {
  unsent_.push_back(text);
  send_queued();
}

void SocketTransport::send_queued() {
  while (!unsent_.empty() && !closed_) {
    const std::string& text = unsent_.front();
    const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) {
      closed_ = true;
      return;
    }
    if (sent < 0) throw IoError("cannot send", "control channel", errno);
    unsent_.pop_front();
  }
}

std::optional<std::string> SocketTransport::receive() {
  if (closed_) return std::nullopt;
  const ssize_t size = ::recv(fd_, nullptr, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return std::nullopt;
  if (size <= 0) {
    closed_ = true;  // no text is empty: 0 is the end of the stream
    return std::nullopt;
  }
  std::string text(std::size_t(size), '\0');
  if (::recv(fd_, text.data(), text.size(), MSG_DONTWAIT) != size) {
    throw IoError("cannot receive", "control channel", errno);
  }
  return text;
}

void SocketTransport::wait(int wake_fd, std::chrono::milliseconds timeout) {
  const short events = short(POLLIN | (unsent_.empty() ? 0 : POLLOUT));
  pollfd fds[2] = {{wake_fd, POLLIN, 0}, {fd_, events, 0}};
  ::poll(fds, closed_ ? 1 : 2, int(timeout.count()));
  if ((fds[1].revents & POLLOUT) != 0) send_queued();
}

bool SocketTransport::flush(std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  for (send_queued(); !unsent_.empty() && !closed_; send_queued()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd fd{fd_, POLLOUT, 0};
    ::poll(&fd, 1, int(left.count()));
  }
  return unsent_.empty();
}

}  // namespace jabas
