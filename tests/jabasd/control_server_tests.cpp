// One test per refusal: who has no key, who talks garbage, who acknowledges what was never sent.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>

#include "spank_plugin/jabasd/control_server.h"
#include "tests/jabasd/fake_peer.h"
#include "tests/support/temp_dir.h"

using namespace jabas;
using namespace std::chrono_literals;

namespace {

struct Fixture {
  RunKeys keys = make_keys();
  ControlServer server{keys, "127.0.0.1", 0};
  std::vector<ControlServer::Received> received;

  PeerKeys good() const { return {keys.server_public, keys.client_public, keys.client_secret}; }
  void until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!condition()) {
      BOOST_REQUIRE(std::chrono::steady_clock::now() < deadline);
      server.wait({}, 10ms);
      for (auto& one : server.receive()) received.push_back(one);
    }
  }
  std::optional<Envelope> next(FakePeer& peer) {
    std::optional<Envelope> envelope;
    until([&] {
      envelope = peer.receive();
      return envelope.has_value();
    });
    return envelope;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(control_server_tests)

BOOST_FIXTURE_TEST_CASE(a_peer_with_the_key_is_heard, Fixture) {
  FakePeer peer(server.endpoint(), good(), "101.0");
  peer.send(Ready{});
  until([&] { return received.size() == 1; });
  BOOST_TEST(received[0].from == "101.0");
  BOOST_TEST(type_name(received[0].message) == "ready");
  BOOST_TEST(server.counters().refused == 0);
}

BOOST_FIXTURE_TEST_CASE(without_a_key_nothing_gets_in, Fixture) {
  FakePeer stranger(server.endpoint(), {}, "101.0");
  stranger.send(Ready{});
  until([&] { return server.counters().refused > 0; });
  BOOST_TEST(received.empty());
}

BOOST_FIXTURE_TEST_CASE(with_another_key_nothing_gets_in, Fixture) {
  const RunKeys other = make_keys();
  FakePeer stranger(server.endpoint(),
                    {keys.server_public, other.client_public, other.client_secret}, "101.0");
  stranger.send(Ready{});
  until([&] { return server.counters().refused > 0; });
  // One with the key is served all the same.
  FakePeer peer(server.endpoint(), good(), "101.1");
  peer.send(Ready{});
  until([&] { return received.size() == 1; });
  BOOST_TEST(received[0].from == "101.1");
}

BOOST_FIXTURE_TEST_CASE(the_right_key_pinned_to_another_server_does_not_connect, Fixture) {
  const RunKeys other = make_keys();
  FakePeer peer(server.endpoint(), {other.server_public, keys.client_public, keys.client_secret},
                "101.0");
  peer.send(Ready{});
  until([&] { return server.counters().refused > 0; });
  BOOST_TEST(received.empty());
}

BOOST_FIXTURE_TEST_CASE(garbage_and_unknown_messages_are_counted, Fixture) {
  FakePeer peer(server.endpoint(), good(), "101.0");
  peer.send_text("not json");
  peer.send_text(R"({"v":1,"type":"make_coffee","seq":0})");
  peer.send_text(R"({"v":1,"type":"built","seq":0,"generation":"seven"})");
  peer.send(Ready{});
  until([&] { return received.size() == 1; });
  BOOST_TEST(server.counters().undecodable == 3);
  BOOST_TEST(type_name(received[0].message) == "ready");
}

BOOST_FIXTURE_TEST_CASE(stale_acknowledgements_are_counted, Fixture) {
  FakePeer peer(server.endpoint(), good(), "101.0");
  peer.send(Ack{5});
  until([&] { return server.counters().stale == 1; });
  server.send("101.0", Release{"test"});
  const auto envelope = next(peer);
  BOOST_TEST(envelope->seq == 1u);
  peer.send(Ack{1});
  peer.send(Ack{1});
  until([&] { return server.counters().stale == 2; });
  BOOST_TEST(received.empty());
}

BOOST_FIXTURE_TEST_CASE(what_is_not_acknowledged_goes_again_with_its_number, Fixture) {
  FakePeer peer(server.endpoint(), good(), "101.0");
  peer.send(Ready{});
  until([&] { return received.size() == 1; });
  server.send("101.0", Release{"one"});
  server.send("101.0", Commit{1, 1, "now"});
  BOOST_TEST(next(peer)->seq == 1u);
  BOOST_TEST(next(peer)->seq == 2u);
  peer.send(Ack{1});
  until([&] {
    server.tick({});
    return peer.receive().has_value();  // number 2 again, after its time
  });
  peer.send(Ack{2});
  peer.send(Heartbeat{});
  until([&] { return received.size() == 2; });
  server.resend("101.0");
  server.send("101.0", Status{});
  BOOST_TEST(type_name(next(peer)->message) == "status");  // nothing was left to send again
}

// The message waits for its receiver, who may come later or come back.
BOOST_FIXTURE_TEST_CASE(a_message_for_somebody_absent_is_kept, Fixture) {
  server.send("101.0", Release{"early"});
  BOOST_TEST(server.counters().unroutable == 1);
  FakePeer peer(server.endpoint(), good(), "101.0");
  peer.send(Ready{});
  until([&] { return received.size() == 1; });
  server.resend("101.0");
  BOOST_TEST(type_name(next(peer)->message) == "release");
}

BOOST_FIXTURE_TEST_CASE(a_reconnecting_peer_takes_its_name_over, Fixture) {
  FakePeer first(server.endpoint(), good(), "101.0");
  first.send(Ready{});
  until([&] { return received.size() == 1; });
  FakePeer second(server.endpoint(), good(), "101.0");
  second.send(Ready{});
  until([&] { return received.size() == 2; });
  server.send("101.0", Status{});
  BOOST_TEST(type_name(next(second)->message) == "status");
}

BOOST_FIXTURE_TEST_CASE(heartbeats_go_to_the_named_peers, Fixture) {
  FakePeer peer(server.endpoint(), good(), "101.0");
  peer.send(Ready{});
  until([&] { return received.size() == 1; });
  server.tick({"101.0", "nobody"});
  BOOST_TEST(type_name(next(peer)->message) == "heartbeat");
}

BOOST_AUTO_TEST_CASE(a_taken_port_gives_another_one) {
  const RunKeys keys = make_keys();
  const ControlServer first(keys, "127.0.0.1", 0);
  const ControlServer second(keys, "127.0.0.1", first.port());
  BOOST_TEST(second.port() != first.port());
}

BOOST_AUTO_TEST_CASE(keys_are_private_files_and_stay_the_same) {
  const TempDir dir;
  const RunKeys made = load_or_make_keys((dir / "keys").string(), make_keys);
  const RunKeys read = load_or_make_keys((dir / "keys").string(), make_keys);
  BOOST_TEST(made.server_secret == read.server_secret);
  BOOST_TEST(made.client_public == read.client_public);
  BOOST_TEST(made.server_public.size() == 40u);
  for (const char* name : {"server.pub", "server.key", "client.pub", "client.key"}) {
    const auto mode = std::filesystem::status(dir / "keys" / name).permissions();
    BOOST_TEST(
        (mode == (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
