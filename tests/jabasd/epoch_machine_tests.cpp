#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "spank_plugin/jabasd/epoch_machine.h"

using namespace jabas;

namespace {

bool has(const Transition& step, RunAction action) {
  return std::find(step.actions.begin(), step.actions.end(), action) != step.actions.end();
}

template <typename F>
void each_pair(F visit) {
  for (int s = 0; s < kRunStateCount; ++s) {
    for (int e = 0; e < kRunEventCount; ++e) visit(RunState(s), RunEvent(e));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(epoch_machine_tests)

// Every pair either has an entry or changes nothing at all.
BOOST_AUTO_TEST_CASE(undefined_pairs_change_nothing) {
  int defined = 0;
  each_pair([&](RunState state, RunEvent event) {
    const Transition step = transition(state, event);
    defined += step.defined ? 1 : 0;
    if (step.defined) return;
    BOOST_TEST(step.next == state);
    BOOST_TEST(step.actions.empty());
  });
  BOOST_TEST(defined > 50);
}

// SIGTERM ends the daemon from anywhere, and whatever holds members cancels them on the way.
BOOST_AUTO_TEST_CASE(terminate_is_defined_everywhere_and_cancels) {
  for (int s = 0; s < kRunStateCount; ++s) {
    const Transition step = transition(RunState(s), RunEvent::kTerminate);
    BOOST_TEST_CONTEXT(RunState(s)) {
      BOOST_TEST(step.defined);
      BOOST_TEST(step.next == RunState::kDraining);
      BOOST_TEST(has(step, RunAction::kCancelAll) == (RunState(s) != RunState::kDraining));
    }
  }
}

// From every state in which a run is active, its end is recorded before it is over.
BOOST_AUTO_TEST_CASE(an_active_run_ends_only_with_a_record) {
  each_pair([&](RunState state, RunEvent event) {
    const Transition step = transition(state, event);
    if (step.defined && active(state) && !active(step.next))
      BOOST_TEST(has(step, RunAction::kRecordEnd));
  });
}

// Members are given back whenever a run goes into one of its ending states.
BOOST_AUTO_TEST_CASE(ending_states_give_members_back) {
  const std::set<RunState> ending = {RunState::kFinishing, RunState::kFailed, RunState::kDraining};
  each_pair([&](RunState state, RunEvent event) {
    const Transition step = transition(state, event);
    if (!step.defined || !ending.count(step.next) || ending.count(state)) return;
    BOOST_TEST((has(step, RunAction::kReleaseAll) || has(step, RunAction::kCancelAll)));
  });
}

BOOST_AUTO_TEST_CASE(a_second_train_is_taken_only_when_none_is_active) {
  for (int s = 0; s < kRunStateCount; ++s) {
    BOOST_TEST(transition(RunState(s), RunEvent::kTrainAccepted).defined == !active(RunState(s)));
  }
}

BOOST_AUTO_TEST_CASE(a_planned_resize_is_prepared_only_while_training) {
  each_pair([&](RunState state, RunEvent event) {
    const Transition step = transition(state, event);
    if (has(step, RunAction::kPreparePlanned)) BOOST_TEST(trains(state));
    if (has(step, RunAction::kPrepareFirst)) BOOST_TEST(!trains(step.next));
  });
}

BOOST_AUTO_TEST_SUITE_END()
