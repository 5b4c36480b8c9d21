// The DEALER end against a ROUTER with CURVE, as the daemon has it.
#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <zmq.hpp>

#include "allocator/error.h"
#include "elastic_runner/run_directory.h"
#include "elastic_runner/zmq_transport.h"
#include "tests/support/temp_dir.h"

using namespace jabas;
using std::chrono::milliseconds;

namespace {

struct KeyPair {
  char open[41] = "", secret[41] = "";
  KeyPair() { zmq_curve_keypair(open, secret); }
};

// A run directory and the daemon's socket on a free port.
struct Daemon {
  TempDir dir;
  KeyPair server, client;
  zmq::context_t context;
  zmq::socket_t socket{context, zmq::socket_type::router};

  Daemon() {
    std::filesystem::create_directory(dir / "keys");
    std::ofstream(dir / "keys/server.pub") << server.open << "\n";
    std::ofstream(dir / "keys/client.pub") << client.open << "\n";
    std::ofstream(dir / "keys/client.key") << client.secret << "\n";
    bind("tcp://127.0.0.1:*");
  }
  void bind(const std::string& address) {
    socket = zmq::socket_t(context, zmq::socket_type::router);
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, server.secret);
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::rcvtimeo, 20000);
    bind_when_free(address);
    std::ofstream(dir / "endpoint") << endpoint() << "\n";
  }
  // A closed socket gives its port back a moment later.
  void bind_when_free(const std::string& address) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (true) {
      try {
        socket.bind(address);
        return;
      } catch (const zmq::error_t& error) {
        if (error.num() != EADDRINUSE || std::chrono::steady_clock::now() > deadline) throw;
        std::this_thread::sleep_for(milliseconds(10));
      }
    }
  }
  std::string endpoint() { return socket.get(zmq::sockopt::last_endpoint); }
  // Sender and text of the next message; empty after 20 s.
  std::pair<std::string, std::string> receive() {
    zmq::message_t from, text;
    if (!socket.recv(from) || !socket.recv(text)) return {};
    return {from.to_string(), text.to_string()};
  }
  void send(const std::string& to, const std::string& text) {
    socket.send(zmq::buffer(to), zmq::send_flags::sndmore);
    socket.send(zmq::buffer(text));
  }
};

std::string wait_for_text(ControlTransport& transport) {
  const int no_wake = ::eventfd(0, EFD_CLOEXEC);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::optional<std::string> text;
  while (!text && std::chrono::steady_clock::now() < deadline) {
    transport.wait(no_wake, milliseconds(100));
    text = transport.receive();
  }
  ::close(no_wake);
  return text.value_or("");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(zmq_transport_tests)

BOOST_AUTO_TEST_CASE(texts_go_both_ways_under_the_routing_id) {
  Daemon daemon;
  const auto transport = make_zmq_transport({daemon.dir.path(), "", "7.1"});
  transport->send("hello");
  const auto [from, text] = daemon.receive();
  BOOST_TEST(from == "7.1");
  BOOST_TEST(text == "hello");
  daemon.send("7.1", "welcome");
  BOOST_TEST(wait_for_text(*transport) == "welcome");
  BOOST_TEST(!transport->take_reconnected());
}

// A daemon that came back on the same port has forgotten us.
BOOST_AUTO_TEST_CASE(a_restarted_daemon_is_a_reconnection) {
  Daemon daemon;
  const auto transport = make_zmq_transport({daemon.dir.path(), "", "7.1"});
  transport->send("one");
  BOOST_TEST(daemon.receive().second == "one");
  daemon.send("7.1", "two-way");
  BOOST_TEST(wait_for_text(*transport) == "two-way");
  const std::string address = daemon.endpoint();
  daemon.socket.close();
  daemon.bind(address);
  const int no_wake = ::eventfd(0, EFD_CLOEXEC);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  bool reconnected = false;
  while (!reconnected && std::chrono::steady_clock::now() < deadline) {
    transport->wait(no_wake, milliseconds(100));
    reconnected = transport->take_reconnected();
  }
  ::close(no_wake);
  BOOST_TEST(reconnected);
  transport->send("two");
  BOOST_TEST(daemon.receive().second == "two");
}

BOOST_AUTO_TEST_CASE(a_silent_daemon_is_looked_for_at_its_new_address) {
  Daemon daemon;
  const std::string old = daemon.endpoint();
  const auto transport = make_zmq_transport({daemon.dir.path(), old, "7.1"});
  daemon.socket.close();
  daemon.bind("tcp://127.0.0.1:*");
  BOOST_TEST_REQUIRE(daemon.endpoint() != old);
  transport->peer_silent_for(milliseconds(4000));
  transport->peer_silent_for(milliseconds(5000));
  transport->send("found");
  BOOST_TEST(daemon.receive().second == "found");
}

BOOST_AUTO_TEST_CASE(the_environment_is_the_second_source_of_the_address) {
  Daemon daemon;
  const std::string endpoint = daemon.endpoint();
  std::filesystem::remove(daemon.dir / "endpoint");
  const auto transport = make_zmq_transport({daemon.dir.path(), endpoint, "7.1"});
  transport->send("hello");
  BOOST_TEST(daemon.receive().second == "hello");
  BOOST_CHECK_THROW(make_zmq_transport({daemon.dir.path(), "", "7.1"}), InputError);
  BOOST_CHECK_THROW(make_zmq_transport({daemon.dir.path(), "nonsense", "7.1"}), InputError);
}

// A process that pretends to be the daemon but has another key never gets a word.
BOOST_AUTO_TEST_CASE(a_wrong_server_key_is_refused) {
  Daemon daemon;
  const KeyPair other;
  std::ofstream(daemon.dir / "keys/server.pub") << other.open << "\n";
  const auto transport = make_zmq_transport({daemon.dir.path(), "", "7.1"});
  transport->send("secret");
  daemon.socket.set(zmq::sockopt::rcvtimeo, 1000);
  BOOST_TEST(daemon.receive().second == "");
}

BOOST_AUTO_TEST_CASE(a_broken_key_file_is_named) {
  Daemon daemon;
  std::ofstream(daemon.dir / "keys/client.key") << "short\n";
  const std::string path = daemon.dir.path() + "/keys/client.key";
  BOOST_CHECK_EXCEPTION(make_zmq_transport({daemon.dir.path(), "", "7.1"}), InputError,
                        [&](const InputError& error) {
                          return error.what() == path + ": not a key of 40 Z85 characters but of 5";
                        });
}

BOOST_AUTO_TEST_SUITE_END()
