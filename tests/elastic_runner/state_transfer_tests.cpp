#include <boost/test/unit_test.hpp>
#include <cmath>
#include <thread>

#include "allocator/error.h"
#include "elastic_runner/state_transfer.h"
#include "tests/elastic_runner/fake_engine.h"
#include "tests/elastic_runner/memory_communicator.h"

using namespace jabas;
using namespace jabas::testing;

namespace {

RunState some_state() {
  RunState state;
  state.generation = 4;
  state.epoch = 3;
  state.samples_consumed = 128;
  state.step = 77;
  state.local_batch = 32;
  state.virtual_workers = 6;
  state.adaptive = with_measurement({}, {0.4, 2.5, 300});
  state.adaptive.wanted_batch = 190.25;
  state.adaptive.next_adjustment = 100;
  state.epoch_steps = 5;
  state.epoch_loss_sum = 12.5;
  state.epoch_train_s = 0.75;
  state.emulated_steps = 12;
  state.emulation_overruns = 1;
  state.test_accuracy = 0.875;
  return state;
}

double& weight(IidpEngine& engine) { return *static_cast<double*>(engine.state()[0].data); }

}  // namespace

BOOST_AUTO_TEST_SUITE(state_transfer_tests)

BOOST_AUTO_TEST_CASE(run_state_survives_its_text) {
  const RunState state = some_state();
  const RunState copy = run_state_from_json(to_json_text(state));
  BOOST_TEST(to_json_text(copy) == to_json_text(state));
  BOOST_TEST(copy.adaptive.sqr() == state.adaptive.sqr());
  BOOST_TEST(copy.test_accuracy == 0.875);
  BOOST_CHECK_THROW(run_state_from_json("{}"), ProtocolError);
  BOOST_CHECK_THROW(run_state_from_json("nonsense"), ProtocolError);
}

BOOST_AUTO_TEST_CASE(a_diverged_loss_can_be_stored) {
  RunState state = some_state();
  state.epoch_loss_sum = std::nan("");
  BOOST_TEST(std::isnan(run_state_from_json(to_json_text(state)).epoch_loss_sum));
}

BOOST_AUTO_TEST_CASE(a_plan_survives_its_text) {
  BatchPlan plan;
  plan.configuration = {32, 7, {{2, 1}, {3, 0}}, 0.125};
  plan.adaptive = some_state().adaptive;
  plan.reason = "because";
  const BatchPlan copy = batch_plan_from_json(to_json_text(plan));
  BOOST_TEST(to_json_text(copy) == to_json_text(plan));
  BOOST_TEST(copy.configuration.shares[0].workers() == 4);
}

BOOST_AUTO_TEST_CASE(the_most_advanced_rank_gives_the_lowest_of_equals) {
  BOOST_TEST(state_giver({{5, 1, 1}, {6, 1, 1}, {6, 1, 1}}) == 1);
  BOOST_TEST(state_giver({{0, 1, 0}, {0, 1, 0}}) == 0);
  BOOST_TEST(state_giver({{9, 2, 1}, {9, 3, 1}}) == 1);  // the same step, but past the boundary
  BOOST_TEST(state_giver({{0, 1, 0}, {0, 1, 2}}) == 1);  // trained, though no step was committed
}

BOOST_AUTO_TEST_CASE(state_and_tensors_reach_every_rank) {
  const auto mesh = std::make_shared<MemoryMesh>(3);
  std::vector<RunState> states(3);
  std::vector<double> weights(3);
  states[1] = some_state();
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([&, rank] {
      MemoryCommunicator communicator(mesh, rank, 3);
      FakeEngine engine(10, nullptr);
      if (rank == 1) weight(engine) = 42;
      broadcast_state(communicator, engine, states[std::size_t(rank)], 1, rank == 1);
      weights[std::size_t(rank)] = weight(engine);
      communicator.barrier(std::chrono::milliseconds(20000));
    });
  }
  for (auto& rank : ranks) rank.join();
  for (int rank = 0; rank < 3; ++rank) {
    BOOST_TEST(weights[std::size_t(rank)] == 42);
    BOOST_TEST(to_json_text(states[std::size_t(rank)]) == to_json_text(some_state()));
  }
}

// The giver dies after its RunState, before the last tensor: the receiver's tensors are a mixture,
// so it is fresh.
BOOST_AUTO_TEST_CASE(a_broken_transfer_leaves_no_half_state) {
  const auto mesh = std::make_shared<MemoryMesh>(2);
  std::thread giver([&] {
    MemoryCommunicator communicator(mesh, 0, 2);
    FakeEngine engine(10, nullptr);
    broadcast_text(communicator, to_json_text(some_state()), 0);
    communicator.broadcast(engine.state()[0].data, engine.state()[0].bytes, 0);
  });
  MemoryCommunicator communicator(mesh, 1, 2);
  FakeEngine engine(10, nullptr);
  RunState state = some_state();
  state.step = 76;
  BOOST_CHECK_THROW(broadcast_state(communicator, engine, state, 0, false), CommError);
  BOOST_TEST(state.generation == 0);
  BOOST_TEST(state.step == 0);
  giver.join();
}

BOOST_AUTO_TEST_SUITE_END()
