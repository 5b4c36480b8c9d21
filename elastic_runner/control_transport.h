// One end of the control channel: whole texts to and from the daemon (or the local controller).
// Implementations: zmq_transport (Slurm), socket_transport (`train --local`).
// Ownership and threads: made anywhere, then used by one thread only.
// Errors: IoError for a broken socket.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace jabas {

class ControlTransport {
 public:
  virtual ~ControlTransport() = default;
  // Queues the text; never waits.
  virtual void send(const std::string& text) = 0;
  // The next text that has arrived, if any; never waits.
  virtual std::optional<std::string> receive() = 0;
  // Waits until a text may have arrived, `wake_fd` is readable, or the time has passed.
  virtual void wait(int wake_fd, std::chrono::milliseconds timeout) = 0;
  // True once after each new connection but the first: the peer may have forgotten us.
  virtual bool take_reconnected() = 0;
  // Called about once a second with the time since the peer was last heard; may look for it
  // elsewhere.
  virtual void peer_silent_for(std::chrono::milliseconds silence) = 0;
  // The peer is gone for good.
  virtual bool closed() const = 0;
  // Tries to hand over what is queued before the deadline. Returns whether all of it went.
  virtual bool flush(std::chrono::milliseconds deadline) = 0;
};

}  // namespace jabas
