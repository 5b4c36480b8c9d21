#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "allocator/control_messages.h"
#include "allocator/error.h"

using namespace jabas;

namespace {

std::string all_bytes() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  return bytes;
}

// One of every type, with content in every kind of field.
std::vector<Envelope> samples() {
  Hello hello;
  hello.role = "console";
  hello.worker_id = "12.0";
  hello.arguments = {"--epochs", "2", ""};
  hello.environment = {{"PATH", "/bin"}, {"ODD", "\xff\x01"}};
  hello.base_workers = 2;
  hello.spec.vsw = {{1, 2}};
  Progress progress;
  progress.step = 400;
  progress.loss = 0.25;
  progress.times.forward_s = 0.001;
  progress.batch_decisions = {{100, 1, 256.5, 256, 32, 8, 0.4, 1e-3, 2.5, "similarity"},
                              {200, 1, 300, 288, 36, 8, 0.5, 0, 0, "grew \"much\"\n"}};
  EpochReport report;
  report.test_accuracy = 0.891;
  Status status;
  status.progress = progress;
  status.gpus = {{"v100", 2}, {"p100", 4}};
  status.note = "waiting for 2 × v100: Resources";
  Prepare prepare{
      3, 2, {{"12.0", "v100", "n1"}, {"13.0", "p100", "n2"}}, "{\"jabas_profile\":1}", true};
  Welcome welcome{"inc-1", 40, {}, "v100"};
  WorkerTimes times{3, "v100", 32, 2, 1, 117, {1, 2, 3, 4, 5, 6}, {{827000, 0.002}, {512, 0}}};
  Calibration calibration{"p100", {{32, 2, 0.1, 0.2, 0.4, 0.01, 0, 0}}, {{827000, 0}}, 2.5};
  std::vector<Message> messages = {hello,
                                   Ready{},
                                   Rendezvous{3, 2, 1, all_bytes()},
                                   Built{3, 2},
                                   BuildFailed{3, 2, "no route"},
                                   Switched{3, 2, 4, 1000, 0.42},
                                   SwitchFailed{3, 2, "barrier"},
                                   TooLate{3, 2},
                                   Revoked{3, 2},
                                   progress,
                                   report,
                                   times,
                                   calibration,
                                   Leaving{"released"},
                                   Finished{0.9, 2000},
                                   Fault{3, "peer closed", 2, 1234, 99},
                                   ConsoleBye{3},
                                   welcome,
                                   prepare,
                                   Peers{3, 2, {all_bytes(), "", "x"}},
                                   Commit{3, 2, "boundary"},
                                   Revoke{3, 2},
                                   Release{"not wanted"},
                                   Stop{2, "bad option"},
                                   status,
                                   Heartbeat{},
                                   Ack{18446744073709551615u}};
  std::vector<Envelope> envelopes;
  for (std::size_t i = 0; i < messages.size(); ++i) envelopes.push_back({i, messages[i]});
  return envelopes;
}

std::string error_of(const std::string& text) {
  try {
    decode(text);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(control_messages_tests)

BOOST_AUTO_TEST_CASE(every_type_survives_the_wire) {
  std::set<std::size_t> seen;
  std::set<std::string> names;
  for (const Envelope& sent : samples()) {
    const std::string text = encode(sent);
    const Envelope got = decode(text);
    BOOST_TEST(got.message.index() == sent.message.index());
    BOOST_TEST(got.seq == sent.seq);
    BOOST_TEST(encode(got) == text);
    BOOST_TEST(text.find('\n') == std::string::npos);
    seen.insert(sent.message.index());
    names.insert(type_name(sent.message));
  }
  BOOST_TEST(seen.size() == std::variant_size_v<Message>);
  BOOST_TEST(names.size() == std::variant_size_v<Message>);
}

BOOST_AUTO_TEST_CASE(looks_as_documented) {
  BOOST_TEST(encode({7, Commit{3, 2, "boundary"}}) ==
             R"({"v":1,"type":"commit","seq":7,"generation":3,"attempt":2,"at":"boundary"})");
  BOOST_TEST(encode({0, Heartbeat{}}) == R"({"v":1,"type":"heartbeat","seq":0})");
  BOOST_TEST(
      encode({0, Rendezvous{1, 1, 0, "ab"}}) ==
      R"({"v":1,"type":"rendezvous","seq":0,"generation":1,"attempt":1,"rank":0,"blob":"YWI="})");
}

BOOST_AUTO_TEST_CASE(bytes_and_numbers_are_exact) {
  const auto rendezvous =
      std::get<Rendezvous>(decode(encode({0, Rendezvous{1, 1, 0, all_bytes()}})).message);
  BOOST_TEST(rendezvous.blob == all_bytes());
  const auto peers = std::get<Peers>(decode(encode({0, Peers{1, 1, {"", all_bytes()}}})).message);
  BOOST_TEST(peers.blobs[1] == all_bytes());

  const auto hello = std::get<Hello>(decode(encode(samples()[0])).message);
  BOOST_TEST(hello.environment.at("ODD") == "\xff\x01");
  BOOST_TEST(hello.environment.at("PATH") == "/bin");

  Progress progress;
  progress.loss = std::numeric_limits<double>::quiet_NaN();
  progress.samples_per_s = std::numeric_limits<double>::infinity();
  progress.times.step_s = 0.1;
  const auto got = std::get<Progress>(decode(encode({0, progress})).message);
  BOOST_TEST(std::isnan(got.loss));
  BOOST_TEST(std::isinf(got.samples_per_s));
  BOOST_TEST(got.times.step_s == 0.1);
}

BOOST_AUTO_TEST_CASE(refuses_what_it_cannot_read) {
  BOOST_TEST(error_of("") == "message: not JSON");
  BOOST_TEST(error_of("3") == "message: found 3, accepted is an object");
  BOOST_TEST(error_of(R"({"type":"ready","seq":0})") == "message.v: missing");
  BOOST_TEST(error_of(R"({"v":2,"type":"ready","seq":0})") == "message.v: found 2, accepted is 1");
  BOOST_TEST(error_of(R"({"v":1,"type":"dance","seq":0})") ==
             "message.type: found \"dance\", which this version does not know");
  BOOST_TEST(error_of(R"({"v":1,"type":"built","seq":-1,"generation":1,"attempt":1})") ==
             "message.seq: found -1, accepted is a whole number from 0");
  BOOST_TEST(error_of(R"({"v":1,"type":"built","seq":0,"generation":1})") ==
             "built.attempt: missing");
  BOOST_TEST(
      error_of(
          R"({"v":1,"type":"rendezvous","seq":0,"generation":1,"attempt":1,"rank":0,"blob":"YQ"})") ==
      "rendezvous.blob: found \"YQ\", accepted is base64 text");
  BOOST_TEST(
      error_of(
          R"({"v":1,"type":"prepare","seq":1,"generation":1,"attempt":1,"members":[{"worker_id":"1.0","gpu_type":3,"host":""}],"profile_json":"","first":true})") ==
      "prepare.members[0].gpu_type: found 3, accepted is text");
}

BOOST_AUTO_TEST_CASE(ignores_unknown_fields) {
  const auto got =
      decode(R"({"v":1,"type":"built","seq":0,"generation":4,"attempt":1,"colour":{"a":[1]}})");
  BOOST_TEST(std::get<Built>(got.message).generation == 4);
}

// Whatever arrives, decode() gives a message or a ProtocolError.
BOOST_AUTO_TEST_CASE(mutated_messages_never_crash) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  std::vector<std::string> valid;
  for (const Envelope& envelope : samples()) valid.push_back(encode(envelope));
  const std::string spice = "{}[]\",:0123456789-.eE\\tfn\x80\xff\n";
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  int accepted = 0, refused = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string text = valid[below(valid.size())];
    for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = below(text.size());
      switch (below(6)) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text[at] = spice[below(spice.size())];
          break;
        case 2:
          text.erase(at, 1 + below(8));
          break;
        case 3:
          text.insert(at, 1, spice[below(spice.size())]);
          break;
        case 4:
          text.resize(at);
          break;
        default: {  // a piece of another message
          const std::string& other = valid[below(valid.size())];
          const std::size_t from = below(other.size());
          text.insert(at, other.substr(from, 1 + below(20)));
        }
      }
    }
    try {
      encode(decode(text));
      ++accepted;
    } catch (const ProtocolError& error) {
      BOOST_REQUIRE(std::string(error.what()).size() > 3);
      ++refused;
    }
  }
  BOOST_TEST_MESSAGE(accepted << " accepted, " << refused << " refused");
  BOOST_TEST(accepted > 0);
  BOOST_TEST(refused > 10000);
}

BOOST_AUTO_TEST_CASE(deep_nesting_is_only_a_bad_message) {
  std::string deep = R"({"v":1,"type":"built","seq":0,"generation":)";
  deep += std::string(100000, '[') + std::string(100000, ']') + R"(,"attempt":1})";
  BOOST_CHECK_THROW(decode(deep), ProtocolError);
}

BOOST_AUTO_TEST_SUITE_END()
