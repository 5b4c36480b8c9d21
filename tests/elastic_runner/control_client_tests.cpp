#include <poll.h>

#include <boost/test/unit_test.hpp>
#include <condition_variable>

#include "elastic_runner/control_client.h"
#include "elastic_runner/socket_transport.h"

using namespace jabas;
using std::chrono::milliseconds;

namespace {

// The daemon's end of a socket pair.
class Peer {
 public:
  explicit Peer(int fd) : transport_(fd) {}
  void send(std::uint64_t seq, Message message) {
    transport_.send(encode({seq, std::move(message)}));
  }
  void send_text(const std::string& text) { transport_.send(text); }
  // The next message of the type; others are dropped.
  template <typename M>
  M wait_for() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      while (auto text = transport_.receive()) {
        const Envelope envelope = decode(*text);
        if (const auto* one = std::get_if<M>(&envelope.message)) return *one;
      }
      pollfd fd{transport_.fd(), POLLIN, 0};
      ::poll(&fd, 1, 100);
    }
    throw std::runtime_error("message did not come");
  }

 private:
  SocketTransport transport_;
};

struct Fixture {
  std::pair<int, int> ends = make_socket_pair();
  std::optional<Peer> peer{ends.first};
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Message> handled;
  ControlClient client{std::make_unique<SocketTransport>(ends.second), hello()};

  Fixture() {
    client.start([this](const Message& message) {
      const std::lock_guard lock(mutex);
      handled.push_back(message);
      changed.notify_all();
    });
  }
  ~Fixture() { client.stop(); }
  static Hello hello() {
    Hello result;
    result.role = "worker";
    result.worker_id = "7.0";
    return result;
  }
  bool wait_handled(std::size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, milliseconds(20000), [&] { return handled.size() >= count; });
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(control_client_tests)

BOOST_FIXTURE_TEST_CASE(says_hello_then_beats_by_itself, Fixture) {
  BOOST_TEST(peer->wait_for<Hello>().worker_id == "7.0");
  peer->wait_for<Heartbeat>();
  peer->wait_for<Heartbeat>();
}

BOOST_FIXTURE_TEST_CASE(numbered_messages_are_acknowledged_and_handled_once, Fixture) {
  peer->send(1, Welcome{"a", 40, {}, ""});
  peer->send(2, Release{"x"});
  peer->send(2, Release{"x"});
  peer->send(3, Stop{0, "y"});
  BOOST_TEST(wait_handled(3));
  for (std::uint64_t seq : {1, 2, 2, 3}) BOOST_TEST(peer->wait_for<Ack>().acked == seq);
  BOOST_TEST(handled.size() == 3U);
  BOOST_TEST(std::holds_alternative<Stop>(handled[2]));
}

BOOST_FIXTURE_TEST_CASE(a_new_incarnation_counts_from_one_again, Fixture) {
  peer->send(1, Welcome{"a", 40, {}, ""});
  peer->send(2, Release{"x"});
  peer->send(1, Welcome{"b", 40, {}, ""});
  peer->send(2, Release{"y"});
  BOOST_TEST(wait_handled(4));
}

// A message that was lost and is sent again arrives after later ones.
BOOST_FIXTURE_TEST_CASE(a_late_number_is_not_a_duplicate, Fixture) {
  peer->send(3, Release{"later"});
  peer->send(2, Release{"earlier"});
  BOOST_TEST(wait_handled(2));
}

BOOST_FIXTURE_TEST_CASE(garbage_is_dropped_and_the_channel_lives_on, Fixture) {
  peer->send_text("not json");
  peer->send_text(R"({"v":1,"type":"no_such","seq":1})");
  peer->send(1, Release{"x"});
  BOOST_TEST(wait_handled(1));
  BOOST_TEST(handled.size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(what_is_queued_at_the_end_still_goes, Fixture) {
  client.send(Leaving{"done"});
  client.stop();
  BOOST_TEST(peer->wait_for<Leaving>().reason == "done");
}

BOOST_FIXTURE_TEST_CASE(a_closed_channel_is_a_lost_lease, Fixture) {
  BOOST_TEST(!client.lease_lost());
  peer.reset();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!client.closed() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  BOOST_TEST(client.lease_lost());
}

BOOST_FIXTURE_TEST_CASE(the_lease_is_the_daemons_silence, Fixture) {
  peer->send(1, Welcome{"a", 0.2, {}, ""});
  BOOST_TEST(wait_handled(1));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!client.lease_lost() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  BOOST_TEST(client.lease_lost());
  peer->send(0, Heartbeat{});
  while (client.lease_lost() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  BOOST_TEST(client.silence().count() < 20000);
}

BOOST_AUTO_TEST_SUITE_END()
