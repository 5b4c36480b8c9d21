// Control channel of `train --local`: one end of a SOCK_SEQPACKET socket pair, one packet per
// text.
#pragma once

#include <deque>
#include <utility>

#include "elastic_runner/control_transport.h"

namespace jabas {

class SocketTransport : public ControlTransport {
 public:
  explicit SocketTransport(int fd);  // takes the descriptor
  ~SocketTransport() override;
  SocketTransport(const SocketTransport&) = delete;
  SocketTransport& operator=(const SocketTransport&) = delete;

  void send(const std::string& text) override;
  std::optional<std::string> receive() override;
  void wait(int wake_fd, std::chrono::milliseconds timeout) override;
  bool take_reconnected() override { return false; }
  void peer_silent_for(std::chrono::milliseconds) override {}
  bool closed() const override { return closed_; }
  bool flush(std::chrono::milliseconds deadline) override;
  int fd() const { return fd_; }

 private:
  void send_queued();
  int fd_;
  bool closed_ = false;
  std::deque<std::string> unsent_;
};

// Both ends, close-on-exec. IoError when the system has none left.
std::pair<int, int> make_socket_pair();

}  // namespace jabas
