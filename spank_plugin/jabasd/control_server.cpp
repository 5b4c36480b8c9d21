#include "spank_plugin/jabasd/control_server.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <zmq.hpp>

#include "allocator/error.h"

namespace jabas {
namespace {

constexpr double kResendAfter_s = 2, kHeartbeat_s = 1;
constexpr char kAdmission[] = "inproc://zeromq.zap.01";  // ZeroMQ asks there, see RFC 27/ZAP
constexpr char kMonitor[] = "inproc://handshakes";
constexpr std::size_t kLongestMessage_bytes = 16 * 1024 * 1024;

double steady_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<std::string> read_frames(zmq::socket_t& socket) {
  std::vector<std::string> frames;
  zmq::message_t frame;
  while (socket.recv(frame, zmq::recv_flags::dontwait)) {
    frames.push_back(frame.to_string());
    if (!frame.more()) break;
  }
  return frames;
}

bool numbered(const Message& message) {
  return !std::holds_alternative<Heartbeat>(message) && !std::holds_alternative<Ack>(message) &&
         !std::holds_alternative<Status>(message);
}

}  // namespace

RunKeys make_keys() {
  const auto pair = [](std::string* public_key, std::string* secret_key) {
    std::array<char, 41> public_text, secret_text;
    JABAS_ASSERT(zmq_curve_keypair(public_text.data(), secret_text.data()) == 0,
                 "libzmq without CURVE");
    *public_key = public_text.data();
    *secret_key = secret_text.data();
  };
  RunKeys keys;
  pair(&keys.server_public, &keys.server_secret);
  pair(&keys.client_public, &keys.client_secret);
  return keys;
}

struct ControlServer::Sockets {
  zmq::context_t context{1};
  zmq::socket_t admission{context, zmq::socket_type::rep};
  zmq::socket_t router{context, zmq::socket_type::router};
  zmq::socket_t monitor{context, zmq::socket_type::pair};
};

ControlServer::ControlServer(const RunKeys& keys, const std::string& address, int port)
    : admitted_key_(keys.client_public), sockets_(std::make_unique<Sockets>()) {
  zmq::socket_t& router = sockets_->router;
  // The admission socket must be there before the first handshake, or everybody with any key gets
  // in.
  sockets_->admission.bind(kAdmission);
  for (zmq::socket_t* socket : {&router, &sockets_->admission, &sockets_->monitor}) {
    socket->set(zmq::sockopt::linger, 0);
  }
  router.set(zmq::sockopt::router_mandatory, true);
  router.set(zmq::sockopt::router_handover, true);
  router.set(zmq::sockopt::maxmsgsize, std::int64_t(kLongestMessage_bytes));
  router.set(zmq::sockopt::curve_server, 1);
  router.set(zmq::sockopt::curve_secretkey, keys.server_secret);
  router.set(zmq::sockopt::zap_domain, "jabas");
  JABAS_ASSERT(zmq_socket_monitor(router.handle(), kMonitor,
                                  ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                                      ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                                      ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) == 0,
               "cannot watch the handshakes");
  sockets_->monitor.connect(kMonitor);
  const auto bind = [&](const std::string& port_text) {
    router.bind("tcp://" + address + ":" + port_text);
    endpoint_ = router.get(zmq::sockopt::last_endpoint);
  };
  try {
    bind(port > 0 ? std::to_string(port) : "*");
  } catch (const zmq::error_t& first) {
    try {
      if (port == 0) throw;
      spdlog::warn("control channel: port {} of {}: {}; taking another one", port, address,
                   first.what());
      bind("*");
    } catch (const zmq::error_t& error) {
      throw Error(ExitCode::kFailed,
                  "control channel: cannot bind to " + address + ": " + error.what());
    }
  }
  port_ = std::stoi(endpoint_.substr(endpoint_.rfind(':') + 1));
}

ControlServer::~ControlServer() { zmq_socket_monitor(sockets_->router.handle(), nullptr, 0); }

void ControlServer::wait(const std::vector<int>& descriptors, std::chrono::milliseconds at_most) {
  std::vector<zmq::pollitem_t> items = {{sockets_->router.handle(), 0, ZMQ_POLLIN, 0},
                                        {sockets_->admission.handle(), 0, ZMQ_POLLIN, 0},
                                        {sockets_->monitor.handle(), 0, ZMQ_POLLIN, 0}};
  for (const int fd : descriptors) items.push_back({nullptr, fd, ZMQ_POLLIN, 0});
  try {
    zmq::poll(items, at_most);
  } catch (const zmq::error_t& error) {
    if (error.num() != EINTR) throw;
  }
  handle_admission();
  handle_monitor();
}

// ZAP: version, request id, domain, address, identity, mechanism, credentials. Only this run's
// client key gets in.
void ControlServer::handle_admission() {
  for (;;) {
    const std::vector<std::string> request = read_frames(sockets_->admission);
    if (request.empty()) return;
    bool admitted = false;
    if (request.size() == 7 && request[5] == "CURVE" && request[6].size() == 32) {
      std::array<char, 41> text;
      zmq_z85_encode(text.data(), reinterpret_cast<const std::uint8_t*>(request[6].data()), 32);
      admitted = admitted_key_ == text.data();
    }
    const std::array<std::string, 6> reply = {"1.0",
                                              request.size() > 1 ? request[1] : "",
                                              admitted ? "200" : "400",
                                              admitted ? "OK" : "not a key of this run",
                                              "",
                                              ""};
    for (std::size_t i = 0; i < reply.size(); ++i) {
      sockets_->admission.send(zmq::buffer(reply[i]), i + 1 < reply.size()
                                                          ? zmq::send_flags::sndmore
                                                          : zmq::send_flags::none);
    }
  }
}

void ControlServer::handle_monitor() {
  for (;;) {
    const std::vector<std::string> event = read_frames(sockets_->monitor);
    if (event.empty()) return;
    ++counters_.refused;
    log_once("refused", "a connection without this run's key was refused");
  }
}

std::vector<ControlServer::Received> ControlServer::receive() {
  std::vector<Received> result;
  for (;;) {
    const std::vector<std::string> frames = read_frames(sockets_->router);
    if (frames.empty()) return result;
    const std::string& from = frames.front();
    try {
      if (frames.size() != 2)
        throw ProtocolError(std::to_string(frames.size()) + " frames, expected 2");
      Envelope envelope = decode(frames[1]);
      if (envelope.seq > 0) transmit(from, {0, Ack{envelope.seq}});
      if (const Ack* ack = std::get_if<Ack>(&envelope.message)) {
        const auto outbox = outboxes_.find(from);
        if (outbox == outboxes_.end() || !outbox->second.acknowledge(ack->acked)) ++counters_.stale;
        continue;
      }
      result.push_back({from, std::move(envelope.message)});
    } catch (const ProtocolError& error) {
      ++counters_.undecodable;
      log_once("undecodable", "message from \"" + from + "\" ignored: " + error.what());
    }
  }
}

bool ControlServer::transmit(const std::string& to, const Envelope& envelope) {
  try {
    sockets_->router.send(zmq::buffer(to), zmq::send_flags::sndmore | zmq::send_flags::dontwait);
    sockets_->router.send(zmq::buffer(encode(envelope)), zmq::send_flags::dontwait);
    return true;
  } catch (const zmq::error_t& error) {
    // Not connected (any more), or its queue is full: what matters is kept and goes again.
    if (error.num() != EHOSTUNREACH && error.num() != EAGAIN) throw;
    ++counters_.unroutable;
    return false;
  }
}

void ControlServer::send(const std::string& to, Message message) {
  if (numbered(message)) {
    transmit(to, outboxes_[to].add(std::move(message), steady_s()));
  } else {
    transmit(to, {0, std::move(message)});
  }
}

void ControlServer::resend(const std::string& to) {
  for (const Envelope& envelope : outboxes_[to].due(steady_s(), 0)) transmit(to, envelope);
}

void ControlServer::tick(const std::vector<std::string>& peers) {
  const double now_s = steady_s();
  if (now_s - last_heartbeat_s_ >= kHeartbeat_s) {
    last_heartbeat_s_ = now_s;
    for (const std::string& peer : peers) transmit(peer, {0, Heartbeat{}});
  }
  for (auto& [receiver, outbox] : outboxes_) {
    for (const Envelope& envelope : outbox.due(now_s, kResendAfter_s)) {
      if (!transmit(receiver, envelope)) break;
    }
  }
}

void ControlServer::log_once(const std::string& kind, const std::string& text) {
  if (logged_[kind]++ == 0)
    spdlog::warn("control channel: {} (further ones are only counted)", text);
}

}  // namespace jabas
