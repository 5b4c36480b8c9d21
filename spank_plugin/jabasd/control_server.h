// The daemon's end of the control channel: a ZeroMQ ROUTER with CURVE that admits only this run's
// client key.
//
// Fits: the event loop waits here (sockets and other descriptors together), takes what has come and
// sends. Decoding, acknowledging, numbering, sending again and heartbeats are done here; meaning is
// the daemon's. Threads: one owner (no threads of its own but ZeroMQ's). Errors: what cannot be
// read, or comes from somebody without the key, is refused and counted and logged once each;
// construction throws Error when no port can be bound.
// Not promised: that a message reaches a receiver; what is not acknowledged is sent again after 2 s
// and by resend().
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "allocator/control_messages.h"
#include "spank_plugin/jabasd/outbox.h"
#include "spank_plugin/jabasd/run_keys.h"

namespace jabas {

// New random key pairs.
RunKeys make_keys();

struct ControlCounters {
  std::int64_t refused = 0;      // no key, a wrong key, or not even the protocol
  std::int64_t undecodable = 0;  // garbage, unknown message type, bad field
  std::int64_t stale = 0;        // acknowledgements of what is not waiting
  std::int64_t unroutable = 0;   // sent to somebody who is not connected; kept when numbered
};

class ControlServer {
 public:
  struct Received {
    std::string from;
    Message message;
  };

  // Binds tcp://address:port; port 0 or a port that is taken gives another one.
  ControlServer(const RunKeys& keys, const std::string& address, int port);
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  const std::string& endpoint() const { return endpoint_; }  // "tcp://address:port"
  int port() const { return port_; }

  // Returns when something came, one of `descriptors` is readable, or the time has passed.
  void wait(const std::vector<int>& descriptors, std::chrono::milliseconds at_most);
  // What came since the last call, acknowledgements and broken messages taken out. Never blocks.
  std::vector<Received> receive();
  // Numbered and kept until acknowledged, except Heartbeat, Ack and Status.
  void send(const std::string& to, Message message);
  // Everything unacknowledged, now: the receiver said hello again.
  void resend(const std::string& to);
  // Heartbeats to `peers` once a second, late messages again. To be called often.
  void tick(const std::vector<std::string>& peers);
  // The receiver is gone for good.
  void forget(const std::string& receiver) { outboxes_.erase(receiver); }

  const ControlCounters& counters() const { return counters_; }

 private:
  struct Sockets;
  void handle_admission();
  void handle_monitor();
  bool transmit(const std::string& to, const Envelope& envelope);
  void log_once(const std::string& kind, const std::string& text);

  std::string admitted_key_;  // Z85
  std::unique_ptr<Sockets> sockets_;
  std::string endpoint_;
  int port_ = 0;
  std::map<std::string, Outbox> outboxes_;
  std::map<std::string, int> logged_;
  double last_heartbeat_s_ = 0;
  ControlCounters counters_;
};

}  // namespace jabas
