#include <boost/test/unit_test.hpp>

#include "elastic_runner/generation_builder.h"
#include "elastic_runner/join_signal.h"
#include "tests/elastic_runner/memory_communicator.h"

using namespace jabas;
using namespace jabas::testing;
using std::chrono::milliseconds;

namespace {

class RecordingPort : public ControlPort {
 public:
  void send(Message message) override {
    const std::lock_guard lock(mutex_);
    sent_.push_back(std::move(message));
    changed_.notify_all();
  }
  void update_hello(const std::function<void(Hello&)>& change) override { change(hello); }
  bool lease_lost() const override { return false; }
  // The first message of the type, once it was sent.
  template <typename M>
  M wait_for() {
    std::unique_lock lock(mutex_);
    const auto find = [&]() -> const M* {
      for (const auto& message : sent_) {
        if (const auto* one = std::get_if<M>(&message)) return one;
      }
      return nullptr;
    };
    if (!changed_.wait_for(lock, milliseconds(20000), [&] { return find() != nullptr; })) {
      throw std::runtime_error("message was not sent");
    }
    return *find();
  }
  template <typename M>
  int count() {
    const std::lock_guard lock(mutex_);
    int result = 0;
    for (const auto& message : sent_) result += std::holds_alternative<M>(message);
    return result;
  }
  Hello hello;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Message> sent_;
};

Prepare prepare(int generation, int attempt, int size, bool first) {
  Prepare result;
  result.generation = generation;
  result.attempt = attempt;
  result.first = first;
  for (int i = 0; i < size; ++i) result.members.push_back({"w." + std::to_string(i), "", "host"});
  return result;
}

struct Fixture {
  MemoryNetwork network;
  RecordingPort port;
  GenerationBuilder builder{"w.0", port, [this](RendezvousStore& store, int rank, int size) {
                              return network.connect(store, rank, size);
                            }};
  // A builder of one: no peers but itself.
  void build_alone(int generation, int attempt, bool first) {
    builder.handle(prepare(generation, attempt, 1, first));
    const auto blob = port.wait_for<Rendezvous>().blob;
    builder.handle(Peers{generation, attempt, {blob}});
    port.wait_for<Built>();
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(generation_builder_tests)

BOOST_FIXTURE_TEST_CASE(a_first_generation_is_taken_once_it_is_built_and_committed, Fixture) {
  builder.handle(prepare(1, 1, 1, true));
  BOOST_TEST(!builder.first_committed());
  const Rendezvous sent = port.wait_for<Rendezvous>();
  BOOST_TEST(sent.rank == 0);
  builder.handle(Peers{1, 1, {sent.blob}});
  port.wait_for<Built>();
  BOOST_TEST(!builder.take_first().has_value());
  builder.handle(Commit{1, 1, "now"});
  BOOST_TEST(builder.first_committed());
  const auto taken = builder.take_first();
  BOOST_TEST_REQUIRE(taken.has_value());
  BOOST_TEST(taken->communicator->world_size() == 1);
  BOOST_TEST(!builder.first_committed());
  BOOST_TEST(port.hello.generation_prepared == 1);
  BOOST_TEST(port.hello.built);
}

BOOST_FIXTURE_TEST_CASE(peers_and_commits_of_other_attempts_are_ignored, Fixture) {
  builder.handle(prepare(2, 3, 1, true));
  port.wait_for<Rendezvous>();
  builder.handle(Peers{2, 2, {"mesh 0"}});
  builder.handle(Commit{2, 2, "now"});
  BOOST_TEST(!builder.first_committed());
  BOOST_TEST(port.count<Built>() == 0);
}

BOOST_FIXTURE_TEST_CASE(a_revoke_before_the_boundary_takes_back_one_after_is_too_late, Fixture) {
  builder.set_training({{"w.0", "", "host"}});
  build_alone(2, 1, false);
  builder.handle(Commit{2, 1, "boundary"});
  builder.handle(Revoke{2, 1});
  BOOST_TEST(port.wait_for<Revoked>().generation == 2);
  BOOST_TEST(!builder.take_commit().has_value());
  BOOST_TEST(!builder.take({2, 1}).has_value());

  builder.handle(
      Commit{3, 1, "boundary"});  // a leaving rank 0 gets commits without having prepared
  BOOST_TEST((builder.take_commit() == GenerationKey{3, 1}));
  builder.handle(Revoke{3, 1});
  BOOST_TEST(port.wait_for<TooLate>().generation == 3);
}

BOOST_FIXTURE_TEST_CASE(a_newer_prepare_replaces_one_that_waits_for_its_peers, Fixture) {
  builder.handle(prepare(2, 1, 2, false));
  port.wait_for<Rendezvous>();
  builder.handle(prepare(2, 2, 1, false));
  builder.handle(Peers{2, 2, {"mesh 1"}});
  BOOST_TEST(port.wait_for<Built>().attempt == 2);
  BOOST_TEST(port.count<BuildFailed>() == 0);  // the old attempt was taken back, it did not fail
}

BOOST_FIXTURE_TEST_CASE(a_prepare_that_does_not_name_this_worker_is_refused, Fixture) {
  Prepare foreign = prepare(4, 1, 1, false);
  foreign.members[0].worker_id = "other";
  builder.handle(foreign);
  BOOST_TEST(port.wait_for<BuildFailed>().reason == "w.0 is not among the members");
  BOOST_TEST(!builder.was_member_of(4));
}

BOOST_FIXTURE_TEST_CASE(a_fault_drops_what_was_planned_but_not_a_recovery, Fixture) {
  builder.set_training({{"w.0", "", "host"}});
  build_alone(2, 1, false);
  builder.handle(Commit{2, 1, "boundary"});
  builder.drop_planned();
  BOOST_TEST(!builder.take_commit().has_value());
  BOOST_TEST(!builder.take({2, 1}).has_value());
  BOOST_TEST(builder.was_member_of(2));
}

BOOST_FIXTURE_TEST_CASE(only_a_worker_on_standby_joins, Fixture) {
  builder.set_training({{"w.0", "", "host"}});
  build_alone(2, 1, false);
  BOOST_TEST(!builder.take_joining().has_value());
  builder.set_training({});
  BOOST_TEST(builder.take_joining().has_value());
}

// Rank 0's side thread ticks to the joiner until the communicator is taken; then the switch says
// go.
BOOST_AUTO_TEST_CASE(joiners_hear_ticks_and_then_the_switch) {
  MemoryNetwork network;
  RecordingPort old_port, new_port;
  const auto make = [&](RendezvousStore& store, int rank, int size) {
    return network.connect(store, rank, size);
  };
  GenerationBuilder old_worker("w.0", old_port, make), joiner("w.1", new_port, make);
  old_worker.set_training({{"w.0", "", "host"}});
  const Prepare plan = prepare(2, 1, 2, false);
  old_worker.handle(plan);
  joiner.handle(plan);
  const Peers peers{
      2, 1, {old_port.wait_for<Rendezvous>().blob, new_port.wait_for<Rendezvous>().blob}};
  old_worker.handle(peers);
  joiner.handle(peers);
  old_port.wait_for<Built>();
  new_port.wait_for<Built>();
  auto joining = joiner.take_joining();
  BOOST_TEST_REQUIRE(joining.has_value());
  JoinSignal signal{};
  joining->communicator->recv(0, &signal, sizeof signal, milliseconds(20000));
  BOOST_TEST((signal == JoinSignal::kTick));
  auto taken = old_worker.take({2, 1});
  BOOST_TEST_REQUIRE(taken.has_value());
  taken.reset();  // dropping it frees the joiner
  BOOST_CHECK_THROW(joining->communicator->recv(0, &signal, sizeof signal, milliseconds(20000)),
                    CommError);
}

BOOST_AUTO_TEST_SUITE_END()
