// A client of the control channel for tests: a real DEALER with the keys it is given.
// Threads: one owner.
#pragma once

#include <optional>
#include <string>
#include <zmq.hpp>

#include "allocator/control_messages.h"

namespace jabas {

struct PeerKeys {
  std::string server_public, client_public, client_secret;  // "" everywhere = no CURVE at all
};

class FakePeer {
 public:
  FakePeer(const std::string& endpoint, const PeerKeys& keys, std::string id) : id_(std::move(id)) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::routing_id, id_);
    if (!keys.client_public.empty()) {
      socket_.set(zmq::sockopt::curve_serverkey, keys.server_public);
      socket_.set(zmq::sockopt::curve_publickey, keys.client_public);
      socket_.set(zmq::sockopt::curve_secretkey, keys.client_secret);
    }
    socket_.connect(endpoint);
  }

  const std::string& id() const { return id_; }
  void send(Message message) { send_text(encode({0, std::move(message)})); }
  void send_text(const std::string& text) {
    socket_.send(zmq::buffer(text), zmq::send_flags::dontwait);
  }
  // Never blocks.
  std::optional<Envelope> receive() {
    zmq::message_t message;
    if (!socket_.recv(message, zmq::recv_flags::dontwait)) return std::nullopt;
    return decode(message.to_string());
  }

 private:
  std::string id_;
  zmq::context_t context_;
  zmq::socket_t socket_{context_, zmq::socket_type::dealer};
};

}  // namespace jabas
