#include "elastic_runner/zmq_transport.h"

#include <poll.h>

#include <cstring>
#include <zmq.hpp>

#include "allocator/error.h"
#include "elastic_runner/run_directory.h"

namespace jabas {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSilenceBeforeSearch{5000};
constexpr int kLinger_ms = 2000;
constexpr char kMonitorAddress[] = "inproc://control-monitor";

class ZmqTransport : public ControlTransport {
 public:
  explicit ZmqTransport(const ZmqTransportOptions& options)
      : options_(options),
        socket_(context_, zmq::socket_type::dealer),
        monitor_(context_, zmq::socket_type::pair) {
    socket_.set(zmq::sockopt::routing_id, options.routing_id);
    socket_.set(zmq::sockopt::linger, kLinger_ms);
    socket_.set(zmq::sockopt::curve_serverkey, read_key(options.run_dir, "server.pub"));
    socket_.set(zmq::sockopt::curve_publickey, read_key(options.run_dir, "client.pub"));
    socket_.set(zmq::sockopt::curve_secretkey, read_key(options.run_dir, "client.key"));
    socket_.set(zmq::sockopt::reconnect_ivl, 100);
    socket_.set(zmq::sockopt::reconnect_ivl_max, 1000);
    zmq_socket_monitor(socket_.handle(), kMonitorAddress, ZMQ_EVENT_HANDSHAKE_SUCCEEDED);
    monitor_.set(zmq::sockopt::linger, 0);
    monitor_.connect(kMonitorAddress);
    endpoint_ = read_endpoint(options.run_dir);
    if (endpoint_.empty()) endpoint_ = options.fallback_endpoint;
    if (endpoint_.empty()) {
      throw InputError(options.run_dir +
                       "/endpoint: not there and JABAS_ENDPOINT is not set: no daemon to talk to");
    }
    connect(endpoint_);
  }

  void send(const std::string& text) override {
    // A DEALER refuses only when its queue is full: the daemon has been away for thousands of
    // messages.
    (void)socket_.send(zmq::buffer(text), zmq::send_flags::dontwait);
  }

  std::optional<std::string> receive() override {
    zmq::message_t message;
    if (!socket_.recv(message, zmq::recv_flags::dontwait)) return std::nullopt;
    return message.to_string();
  }

  void wait(int wake_fd, milliseconds timeout) override {
    zmq::pollitem_t items[] = {{socket_.handle(), 0, ZMQ_POLLIN, 0},
                               {monitor_.handle(), 0, ZMQ_POLLIN, 0},
                               {nullptr, wake_fd, ZMQ_POLLIN, 0}};
    zmq::poll(items, 3, timeout);
    zmq::message_t event, address;
    while (monitor_.recv(event, zmq::recv_flags::dontwait)) {
      (void)monitor_.recv(address, zmq::recv_flags::dontwait);
      ++handshakes_;
    }
  }

  bool take_reconnected() override {
    const bool again = handshakes_ > 1;
    if (again) handshakes_ = 1;
    return again;
  }

  void peer_silent_for(milliseconds silence) override {
    if (silence < kSilenceBeforeSearch) {
      next_search_ = kSilenceBeforeSearch;
      return;
    }
    if (silence < next_search_) return;
    next_search_ = silence + kSilenceBeforeSearch;
    for (const auto& candidate : {read_endpoint(options_.run_dir), options_.fallback_endpoint}) {
      if (candidate.empty() || candidate == endpoint_) continue;
      socket_.disconnect(endpoint_);
      endpoint_ = candidate;
      connect(endpoint_);
      return;
    }
  }

  bool closed() const override { return false; }
  bool flush(milliseconds) override { return true; }  // linger does it when the socket closes

 private:
  void connect(const std::string& endpoint) {
    try {
      socket_.connect(endpoint);
    } catch (const zmq::error_t& error) {
      throw InputError("endpoint '" + endpoint + "': " + error.what() +
                       "; accepted is tcp://HOST:PORT");
    }
  }

  ZmqTransportOptions options_;
  zmq::context_t context_;
  zmq::socket_t socket_, monitor_;
  std::string endpoint_;
  int handshakes_ = 0;
  milliseconds next_search_ = kSilenceBeforeSearch;
};

}  // namespace

std::unique_ptr<ControlTransport> make_zmq_transport(const ZmqTransportOptions& options) {
  return std::make_unique<ZmqTransport>(options);
}

}  // namespace jabas
