#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "allocator/generation_coordinator.h"
#include "allocator/plan_members.h"

using namespace jabas;

namespace {

std::vector<PlanMember> members(const std::vector<std::string>& ids) {
  std::vector<PlanMember> result;
  for (const auto& id : ids) result.push_back({id, "v100", "n1"});
  return result;
}

// What came out, as text: "prepare 1.1 -> a b | commit 1.1 boundary -> a | ready to commit 1.1".
std::string told(const CoordinatorOutput& out) {
  std::string text, last;
  for (const Outgoing& one : out.send) {
    std::string what = type_name(one.message);
    std::visit(
        [&](const auto& m) {
          if constexpr (requires { m.attempt; }) {
            what += " " + std::to_string(m.generation) + "." + std::to_string(m.attempt);
          }
          if constexpr (requires { m.at; }) what += " " + m.at;
        },
        one.message);
    if (what != last) text += (text.empty() ? "" : " | ") + what + " ->";
    text += " " + one.to;
    last = what;
  }
  for (const GenerationEvent& event : out.events) {
    text += (text.empty() ? "" : " | ") + to_text(event.fact) + " " +
            std::to_string(event.generation) + "." + std::to_string(event.attempt);
    if (!event.worker_id.empty()) text += " " + event.worker_id;
    if (!event.text.empty()) text += ": " + event.text;
    for (const auto& leaver : event.leavers) text += " -" + leaver;
  }
  return text;
}

std::vector<std::string> training(const GenerationCoordinator& coordinator) {
  std::vector<std::string> ids;
  for (const auto& member : coordinator.training()) ids.push_back(member.worker_id);
  return ids;
}

using Ids = std::vector<std::string>;

// Walks the prepared generation to kReadyToCommit and gives the last answer.
std::string build(GenerationCoordinator& coordinator, int generation, int attempt) {
  const auto prepared = coordinator.prepared_members();
  for (int rank = 0; rank < static_cast<int>(prepared.size()); ++rank) {
    coordinator.on_message(prepared[static_cast<std::size_t>(rank)].worker_id,
                           Rendezvous{generation, attempt, rank, "blob" + std::to_string(rank)});
  }
  std::string last;
  for (const auto& member : prepared) {
    last = told(coordinator.on_message(member.worker_id, Built{generation, attempt}));
  }
  return last;
}

GenerationCoordinator trains(const Ids& ids) {
  GenerationCoordinator coordinator;
  coordinator.begin(members(ids), "", true);
  build(coordinator, 1, 1);
  coordinator.commit();
  coordinator.on_message(ids.front(), Switched{1, 1, 1, 1, 0});
  BOOST_REQUIRE(coordinator.generation() == 1);
  return coordinator;
}

// Generation 1 of {a, b} trains; generation 2 of `next` is committed.
GenerationCoordinator committed(const Ids& next) {
  GenerationCoordinator coordinator = trains({"a", "b"});
  coordinator.begin(members(next), "profile", false);
  BOOST_REQUIRE(build(coordinator, 2, 1) == "ready to commit 2.1");
  coordinator.commit();
  return coordinator;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(generation_coordinator_tests)

BOOST_AUTO_TEST_CASE(first_generation_is_committed_to_every_member) {
  GenerationCoordinator c;
  BOOST_TEST(told(c.begin(members({"a", "b"}), "p", true)) == "prepare 1.1 -> a b");
  BOOST_TEST(c.preparing());
  BOOST_TEST(told(c.on_message("b", Rendezvous{1, 1, 1, "B"})) == "");
  const auto peers = c.on_message("a", Rendezvous{1, 1, 0, "A"});
  BOOST_TEST(told(peers) == "peers 1.1 -> a b");
  BOOST_TEST((std::get<Peers>(peers.send[0].message).blobs == Ids{"A", "B"}));
  BOOST_TEST(told(c.on_message("a", Built{1, 1})) == "");
  BOOST_TEST(told(c.on_message("b", Built{1, 1})) == "ready to commit 1.1");
  BOOST_TEST(told(c.commit()) == "commit 1.1 now -> a b");
  BOOST_TEST(c.generation() == 0);
  BOOST_TEST(told(c.on_message("a", Switched{1, 1, 3, 1, 0.5})) == "switched 1.1 a");
  BOOST_TEST(c.generation() == 1);
  BOOST_TEST(training(c) == (Ids{"a", "b"}), boost::test_tools::per_element());
  BOOST_TEST(!c.preparing());
}

BOOST_AUTO_TEST_CASE(prepare_carries_members_profile_and_kind) {
  GenerationCoordinator c(7);
  const auto out = c.begin({{"a", "v100", "n1"}, {"b", "p100", "n2"}}, "profile", true);
  const auto prepare = std::get<Prepare>(out.send[1].message);
  BOOST_TEST(prepare.generation == 8);
  BOOST_TEST(prepare.members[1].gpu_type == "p100");
  BOOST_TEST(prepare.members[1].host == "n2");
  BOOST_TEST(prepare.profile_json == "profile");
  BOOST_TEST(prepare.first);
}

BOOST_AUTO_TEST_CASE(a_planned_change_is_committed_to_the_old_rank_0_alone) {
  GenerationCoordinator c = trains({"a", "b", "c"});
  BOOST_TEST(told(c.begin(members({"b", "d"}), "", false)) == "prepare 2.1 -> b d");
  BOOST_TEST(build(c, 2, 1) == "ready to commit 2.1");
  BOOST_TEST(told(c.commit()) == "commit 2.1 boundary -> a");
  BOOST_TEST(c.committed());
  BOOST_TEST(c.generation() == 1);
  BOOST_TEST(told(c.on_message("b", Switched{2, 1, 2, 100, 0.2})) == "switched 2.1 b -a -c");
  BOOST_TEST(training(c) == (Ids{"b", "d"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_lone_member_needs_no_peers) {
  GenerationCoordinator c;
  c.begin(members({"a"}), "", true);
  BOOST_TEST(told(c.on_message("a", Built{1, 1})) == "ready to commit 1.1");
}

BOOST_AUTO_TEST_CASE(a_member_lost_while_building_is_left_out) {
  GenerationCoordinator c = trains({"a"});
  c.begin(members({"a", "b", "c"}), "profile", false);
  c.on_message("c", Rendezvous{2, 1, 2, "C"});
  const auto out = c.on_lost("b");
  BOOST_TEST(told(out) == "prepare 2.2 -> a c");
  BOOST_TEST(std::get<Prepare>(out.send[0].message).profile_json == "profile");
  // Late answers of the first attempt change nothing.
  BOOST_TEST(told(c.on_message("a", Rendezvous{2, 1, 0, "A"})) == "");
  BOOST_TEST(told(c.on_message("a", Built{2, 1})) == "");
  BOOST_TEST(told(c.on_message("b", BuildFailed{2, 1, "x"})) == "");
  BOOST_TEST(build(c, 2, 2) == "ready to commit 2.2");
  // All built, not committed yet: still the same rule.
  BOOST_TEST(told(c.begin(members({"a", "c", "d"}), "", false)) == "prepare 2.3 -> a c d");
  BOOST_TEST(build(c, 2, 3) == "ready to commit 2.3");
  BOOST_TEST(told(c.on_lost("d")) == "prepare 2.4 -> a c");
}

BOOST_AUTO_TEST_CASE(a_change_of_which_nothing_is_left_is_dropped) {
  GenerationCoordinator c = trains({"a"});
  c.begin(members({"a", "b"}), "", false);
  BOOST_TEST(told(c.on_lost("b")) ==
             "revoke 2.1 -> a | build failed 2.1 b: lost, and without it nothing changes");
  BOOST_TEST(!c.preparing());
  BOOST_TEST(c.generation() == 1);
  GenerationCoordinator first;
  first.begin(members({"a"}), "", true);
  BOOST_TEST(told(first.on_lost("a")) == "build failed 1.1 a: lost, and nobody else is left");
}

BOOST_AUTO_TEST_CASE(a_failed_build_drops_the_attempt) {
  GenerationCoordinator c = trains({"a"});
  c.begin(members({"a", "b"}), "", false);
  BOOST_TEST(told(c.on_message("b", BuildFailed{2, 1, "no route to a"})) ==
             "revoke 2.1 -> a b | build failed 2.1 b: no route to a");
  BOOST_TEST(told(c.begin(members({"a", "c"}), "", false)) == "prepare 3.1 -> a c");
}

BOOST_AUTO_TEST_CASE(a_new_begin_replaces_what_is_prepared) {
  GenerationCoordinator c = trains({"a"});
  c.begin(members({"a", "b", "c"}), "", false);
  BOOST_TEST(told(c.begin(members({"a", "c", "d"}), "", false)) ==
             "revoke 2.1 -> b | prepare 2.2 -> a c d");
  BOOST_TEST(told(c.on_message("b", Revoked{2, 1})) == "");
  BOOST_TEST(told(c.commit()) == "unexpected 2.2: cannot commit: not all members have built");
}

BOOST_AUTO_TEST_CASE(begin_is_refused_while_something_is_committed) {
  GenerationCoordinator c = committed({"a", "b", "c"});
  BOOST_TEST(told(c.begin(members({"a"}), "", false)) ==
             "unexpected 2.1: cannot prepare: the one before is committed; revoke it first");
  BOOST_TEST(c.committed());
  c.revoke();
  BOOST_TEST(told(c.begin(members({"a"}), "", false)) ==
             "unexpected 2.1: cannot prepare: the one before is committed; revoke it first");
  c.on_message("a", Revoked{2, 1});
  BOOST_TEST(told(c.begin(members({"a"}), "", false)) == "prepare 3.1 -> a");
}

BOOST_AUTO_TEST_CASE(begin_checks_its_members) {
  GenerationCoordinator c = trains({"a"});
  BOOST_TEST(told(c.begin({}, "", false)) == "unexpected 1.0: cannot prepare: no members");
  BOOST_TEST(told(c.begin(members({"a", "b", "b"}), "", false)) ==
             "unexpected 1.0: cannot prepare: a member appears twice");
  BOOST_TEST(told(c.begin(members({"b", "a"}), "", false)) ==
             "unexpected 1.0: cannot prepare: its rank 0, b, does not train now");
  BOOST_TEST(told(GenerationCoordinator().begin(members({"a"}), "", false)) ==
             "unexpected 0.0: cannot prepare: no generation trains, so this must be a first one");
}

BOOST_AUTO_TEST_CASE(revoke_before_the_commit_is_immediate) {
  GenerationCoordinator c = trains({"a"});
  BOOST_TEST(told(c.revoke()) == "unexpected 1.0: cannot revoke: nothing is prepared");
  c.begin(members({"a", "b"}), "", false);
  BOOST_TEST(told(c.revoke()) == "revoke 2.1 -> a b | revoked 2.1");
  BOOST_TEST(!c.preparing());
}

BOOST_AUTO_TEST_CASE(revoke_after_the_commit_is_answered_by_rank_0) {
  GenerationCoordinator c = committed({"a", "b", "c"});
  BOOST_TEST(told(c.revoke()) == "revoke 2.1 -> a");
  BOOST_TEST(told(c.revoke()) == "");
  BOOST_TEST(told(c.on_message("b", Revoked{2, 1})) ==
             "unexpected 2.1 b: revoked, but was not asked");
  BOOST_TEST(told(c.on_message("a", Revoked{2, 1})) == "revoke 2.1 -> b c | revoked 2.1 a");
  BOOST_TEST(!c.preparing());
  BOOST_TEST(c.generation() == 1);
}

BOOST_AUTO_TEST_CASE(a_revoke_can_be_too_late) {
  GenerationCoordinator c = committed({"a", "c"});
  c.revoke();
  BOOST_TEST(told(c.on_message("a", TooLate{2, 1})) == "too late 2.1 a");
  BOOST_TEST(c.committed());
  BOOST_TEST(told(c.on_message("a", Switched{2, 1, 2, 50, 0.1})) == "switched 2.1 a -b");
  GenerationCoordinator first;
  first.begin(members({"a"}), "", true);
  build(first, 1, 1);
  first.commit();
  BOOST_TEST(told(first.revoke()) == "too late 1.1: a first generation starts at its commit");
}

BOOST_AUTO_TEST_CASE(a_failed_switch_keeps_the_old_generation) {
  GenerationCoordinator c = committed({"a", "b", "c"});
  BOOST_TEST(told(c.on_message("b", SwitchFailed{2, 1, "x"})) ==
             "unexpected 2.1 b: switch_failed from another than rank 0: x");
  BOOST_TEST(told(c.on_message("a", SwitchFailed{2, 1, "barrier timed out"})) ==
             "revoke 2.1 -> c | switch failed 2.1 a: barrier timed out");
  BOOST_TEST(c.generation() == 1);
  BOOST_TEST(training(c) == (Ids{"a", "b"}), boost::test_tools::per_element());
  BOOST_TEST(told(c.begin(members({"a"}), "", false)) == "prepare 3.1 -> a");
}

BOOST_AUTO_TEST_CASE(a_joiner_lost_after_the_commit_is_taken_back_in_time) {
  GenerationCoordinator c = committed({"a", "b", "c", "d"});
  BOOST_TEST(told(c.on_lost("d")) == "revoke 2.1 -> a");
  BOOST_TEST(told(c.on_message("a", Revoked{2, 1})) == "prepare 2.2 -> a b c");
  BOOST_TEST(!c.committed());
}

BOOST_AUTO_TEST_CASE(a_joiner_lost_after_the_commit_may_fail_the_switch_or_the_new_generation) {
  GenerationCoordinator failed = committed({"a", "b", "c"});
  failed.on_lost("c");
  BOOST_TEST(told(failed.on_message("a", TooLate{2, 1})) == "");
  BOOST_TEST(told(failed.on_message("a", SwitchFailed{2, 1, "barrier"})) ==
             "switch failed 2.1 a: barrier");
  GenerationCoordinator made = committed({"a", "b", "c"});
  made.on_lost("c");
  BOOST_TEST(told(made.on_message("a", Switched{2, 1, 2, 9, 0.1})) ==
             "switched 2.1 a | member lost 2.0 c: lost");
  BOOST_TEST(made.generation() == 0);
  BOOST_TEST(training(made) == (Ids{"a", "b"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_loss_in_training_drops_what_is_prepared) {
  GenerationCoordinator c = trains({"a", "b", "c"});
  c.begin(members({"a", "b", "c", "d"}), "", false);
  BOOST_TEST(told(c.on_lost("b")) == "revoke 2.1 -> a c d | member lost 1.0 b: lost");
  BOOST_TEST(!c.preparing());
  BOOST_TEST(c.generation() == 0);
  BOOST_TEST(training(c) == (Ids{"a", "c"}), boost::test_tools::per_element());
  BOOST_TEST(told(c.begin(c.training(), "", true)) == "prepare 3.1 -> a c");
  BOOST_TEST(build(c, 3, 1) == "ready to commit 3.1");
  BOOST_TEST(told(c.commit()) == "commit 3.1 now -> a c");
  BOOST_TEST(told(c.on_message("a", Switched{3, 1, 2, 9, 1})) == "switched 3.1 a");
}

BOOST_AUTO_TEST_CASE(losing_the_old_rank_0_after_the_commit_is_a_loss_in_training) {
  GenerationCoordinator c = committed({"b", "c"});
  BOOST_TEST(told(c.on_lost("a")) == "revoke 2.1 -> b c | member lost 1.0 a: lost");
  BOOST_TEST(training(c) == (Ids{"b"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_fault_is_reported_once_and_names_nobody) {
  GenerationCoordinator c = trains({"a", "b", "c"});
  BOOST_TEST(told(c.on_message("a", Fault{1, "peer closed", 1, 10, 3})) ==
             "member lost 1.0: a reports: peer closed");
  BOOST_TEST(told(c.on_message("c", Fault{1, "peer closed", 1, 10, 3})) == "");
  // The daemon learns later whom it was, here before and below after the recovery began.
  BOOST_TEST(told(c.on_lost("b")) == "member lost 0.0 b: lost before the recovery");
  BOOST_TEST(training(c) == (Ids{"a", "c"}), boost::test_tools::per_element());
  c.begin(c.training(), "", true);
  BOOST_TEST(told(c.on_lost("a")) == "prepare 2.2 -> c");
}

BOOST_AUTO_TEST_CASE(a_loss_in_a_committed_recovery_needs_another) {
  GenerationCoordinator c = trains({"a", "b", "c"});
  c.on_lost("b");
  c.begin(members({"a", "c", "d"}), "", true);
  build(c, 2, 1);
  c.commit();
  BOOST_TEST(told(c.on_lost("c")) == "revoke 2.1 -> a d | member lost 2.0 c: lost");
  BOOST_TEST(training(c) == (Ids{"a", "d"}), boost::test_tools::per_element());
  BOOST_TEST(told(c.on_message("a", Switched{2, 1, 1, 4, 0})) == "");
  BOOST_TEST(told(c.begin(c.training(), "", true)) == "prepare 3.1 -> a d");
}

BOOST_AUTO_TEST_CASE(a_fault_of_the_new_generation_can_overtake_its_switched) {
  GenerationCoordinator c = committed({"a", "c"});
  BOOST_TEST(told(c.on_message("b", Leaving{"released"})) == "");
  BOOST_TEST(told(c.on_message("c", Fault{2, "peer closed", 2, 0, 9})) ==
             "revoke 2.1 -> a c | member lost 2.0: c reports: peer closed");
  BOOST_TEST(training(c) == (Ids{"a", "c"}), boost::test_tools::per_element());
  BOOST_TEST(told(c.on_message("a", Switched{2, 1, 2, 9, 0.1})) == "");
}

BOOST_AUTO_TEST_CASE(leavers_of_a_committed_switch_may_go_before_it_is_reported) {
  GenerationCoordinator c = committed({"a", "c"});
  c.on_message("b", Leaving{"released"});
  BOOST_TEST(told(c.on_lost("b")) == "");
  BOOST_TEST(told(c.on_message("a", Switched{2, 1, 2, 9, 0.1})) == "switched 2.1 a -b");
  BOOST_TEST(told(c.on_lost("b")) == "");
  // Without a goodbye it is a loss.
  GenerationCoordinator other = committed({"a", "c"});
  BOOST_TEST(told(other.on_lost("b")) == "revoke 2.1 -> a c | member lost 1.0 b: lost");
}

BOOST_AUTO_TEST_CASE(rendezvous_is_answered_again_but_not_changed) {
  GenerationCoordinator c;
  c.begin(members({"a", "b"}), "", true);
  BOOST_TEST(told(c.on_message("a", Rendezvous{1, 1, 1, "A"})) ==
             "unexpected 1.1 a: rendezvous for rank 1, which is not this worker's");
  BOOST_TEST(told(c.on_message("a", Rendezvous{1, 1, -1, "A"})) ==
             "unexpected 1.1 a: rendezvous for rank -1, which is not this worker's");
  BOOST_TEST(told(c.on_message("a", Built{1, 1})) ==
             "unexpected 1.1 a: built before the peers were sent");
  c.on_message("a", Rendezvous{1, 1, 0, "A"});
  c.on_message("b", Rendezvous{1, 1, 1, "B"});
  BOOST_TEST(told(c.on_message("b", Rendezvous{1, 1, 1, "B"})) == "peers 1.1 -> b");
  BOOST_TEST(told(c.on_message("b", Rendezvous{1, 1, 1, "X"})) ==
             "unexpected 1.1 b: rendezvous with another blob after the peers were sent");
  BOOST_TEST(told(c.on_message("z", Built{1, 1})) == "unexpected 1.1 z: built, but is no member");
}

BOOST_AUTO_TEST_CASE(what_was_never_prepared_is_reported) {
  GenerationCoordinator c = trains({"a"});
  BOOST_TEST(told(c.on_message("a", Built{9, 1})) ==
             "unexpected 1.0 a: built of generation 9 attempt 1, which was never prepared");
  BOOST_TEST(told(c.on_message("a", Fault{9, "x", 1, 0, 0})) ==
             "unexpected 1.0 a: fault in generation 9, which does not train: x");
  c.begin(members({"a", "b"}), "", false);
  BOOST_TEST(told(c.on_message("a", Switched{2, 1, 1, 1, 0})) ==
             "unexpected 2.1 a: switched before the commit");
  BOOST_TEST(told(c.on_message("a", Built{2, 2})) ==
             "unexpected 2.1 a: built of generation 2 attempt 2, which was never prepared");
  BOOST_TEST(told(c.commit()) == "unexpected 2.1: cannot commit: not all members have built");
  BOOST_TEST(told(c.on_message("a", Progress{})) == "");
  BOOST_TEST(told(c.on_lost("nobody")) == "");
}

BOOST_AUTO_TEST_CASE(a_restarted_owner_adopts_what_trains_and_what_was_committed) {
  GenerationCoordinator c(4);
  c.adopt(4, members({"a", "b"}));
  BOOST_TEST(c.generation() == 4);
  BOOST_TEST(told(c.adopt_commit(5, 2, members({"a", "c"}), "p", false)) ==
             "commit 5.2 boundary -> a");
  BOOST_TEST(told(c.on_message("c", Rendezvous{5, 2, 1, "C"})) == "");
  BOOST_TEST(told(c.on_message("a", TooLate{5, 2})) == "too late 5.2 a");
  BOOST_TEST(told(c.on_message("a", Switched{5, 2, 3, 7, 0.3})) == "switched 5.2 a -b");
  BOOST_TEST(told(c.begin(members({"a"}), "", false)) == "prepare 6.1 -> a");
}

BOOST_AUTO_TEST_SUITE_END()
