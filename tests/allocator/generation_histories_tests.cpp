// Random histories of the generation coordinator: workers that answer late, twice, or die at any
// moment. After every call the invariants of docs/protocol.md hold.
#include <boost/test/unit_test.hpp>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "allocator/generation_coordinator.h"
#include "allocator/plan_members.h"

using namespace jabas;

namespace {

using Attempt = std::pair<int, int>;

class History {
 public:
  explicit History(unsigned seed) : random_(seed) {
    for (int i = 0; i < 4; ++i) hire();
  }

  void step() {
    const std::size_t choice = below(100);
    if (choice < 12) {
      propose();
    } else if (choice < 15) {
      take(coordinator_.revoke(), "revoke");
    } else if (choice < 19) {
      lose();
    } else if (choice < 22) {
      hire();
    } else if (choice < 24) {
      noise();
    } else {
      deliver();
    }
    if (ready_ && below(3) > 0) {
      ready_ = false;
      take(coordinator_.commit(), "commit");
    }
  }

  // Only answers, no more troubles: whatever was committed must come to an end.
  void settle() {
    while (!inbox_.empty()) deliver();
  }

  const GenerationCoordinator& coordinator() const { return coordinator_; }
  std::map<GenerationFact, int> facts;

 private:
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  void hire() { alive_.insert("w" + std::to_string(++hired_)); }
  void lose() {
    if (alive_.size() < 2) return;
    auto victim = std::next(alive_.begin(), static_cast<std::ptrdiff_t>(below(alive_.size())));
    const std::string id = *victim;
    alive_.erase(victim);
    take(coordinator_.on_lost(id), "lost " + id);
  }

  // What an owner does: a recovery when nothing trains, else a change that keeps a rank 0 that
  // trains.
  void propose() {
    std::vector<PlanMember> wanted;
    const bool first = coordinator_.generation() == 0;
    for (const auto& member : coordinator_.training()) {
      if (alive_.count(member.worker_id) > 0 && (wanted.empty() || below(3) > 0)) {
        wanted.push_back(member);
      }
    }
    for (const auto& id : alive_) {
      if (!contains(coordinator_.training(), id) && below(2) == 0) wanted.push_back({id, "t", "h"});
    }
    if (wanted.empty()) return;
    const bool refused = coordinator_.committed();
    const auto out = coordinator_.begin(wanted, "", first);
    BOOST_REQUIRE(refused == out.send.empty());
    take(out, "begin");
  }

  // A stray or repeated message.
  void noise() {
    const int generation = static_cast<int>(below(static_cast<std::size_t>(last_.first) + 3));
    const int attempt = static_cast<int>(below(4));
    const std::string id = "w" + std::to_string(1 + below(static_cast<std::size_t>(hired_)));
    if (alive_.count(id) == 0) return;
    const std::vector<Message> messages = {Built{generation, attempt}, TooLate{generation, attempt},
                                           Rendezvous{generation, attempt, 0, "stray"}};
    say(id, messages[below(messages.size())]);
  }

  void deliver() {
    if (inbox_.empty()) return;
    const std::size_t at = below(std::min<std::size_t>(inbox_.size(), 6));  // not in order
    auto [id, message] = inbox_[at];
    inbox_.erase(inbox_.begin() + static_cast<std::ptrdiff_t>(at));
    if (alive_.count(id) == 0) return;
    say(id, message);
  }

  void say(const std::string& id, const Message& message) {
    if (const auto* built = std::get_if<Built>(&message)) {
      built_[{built->generation, built->attempt}].insert(id);
    }
    take(coordinator_.on_message(id, message), type_name(message) + " of " + id);
  }

  void answer(const std::string& id, const Message& message) { inbox_.emplace_back(id, message); }

  // How workers react to what they are told, and what must hold for it.
  void hear(const std::string& to, const Prepare& m) {
    const Attempt now{m.generation, m.attempt};
    BOOST_REQUIRE(now >= last_);  // never an older pair
    if (now != last_) BOOST_REQUIRE(used_.insert(now).second);
    last_ = now;
    plans_[now] = m;
    for (std::size_t rank = 0; rank < m.members.size(); ++rank) {
      if (m.members[rank].worker_id != to) continue;
      if (below(30) == 0) {
        answer(to, BuildFailed{m.generation, m.attempt, "no route"});
      } else {
        answer(to, Rendezvous{m.generation, m.attempt, static_cast<int>(rank), to + "'s blob"});
      }
    }
  }
  void hear(const std::string& to, const Peers& m) {
    const Prepare& plan = plans_.at({m.generation, m.attempt});
    BOOST_REQUIRE(m.blobs.size() == plan.members.size());
    for (std::size_t rank = 0; rank < m.blobs.size(); ++rank) {
      const bool stray = m.blobs[rank] == "stray";
      BOOST_REQUIRE((stray || m.blobs[rank] == plan.members[rank].worker_id + "'s blob"));
    }
    answer(to, Built{m.generation, m.attempt});
  }
  void hear(const std::string& to, const Commit& m) {
    const Attempt now{m.generation, m.attempt};
    const Prepare& plan = plans_.at(now);
    for (const auto& member : plan.members) BOOST_REQUIRE(built_[now].count(member.worker_id) > 0);
    BOOST_REQUIRE((m.at == (plan.first ? "now" : "boundary")));
    if (!plan.first) BOOST_REQUIRE(coordinator_.training().front().worker_id == to);
    committed_ = now;
    const std::string& rank0 = plan.members.front().worker_id;
    if (plan.first) {
      if (to == rank0) answer(rank0, Switched{m.generation, m.attempt, 1, 1, 0});
    } else if (below(4) == 0) {
      answer(to, SwitchFailed{m.generation, m.attempt, "barrier"});
    } else {
      answer(rank0, Switched{m.generation, m.attempt, 1, 1, 0});
    }
    if (below(20) == 0) answer(rank0, Fault{m.generation, "peer closed", 1, 0, 0});
  }
  void hear(const std::string& to, const Revoke& m) {
    if (below(2) == 0) {
      answer(to, TooLate{m.generation, m.attempt});
      return;
    }
    // In time: this commit's outcome is taken back as well.
    std::erase_if(inbox_, [&](const auto& entry) {
      const auto* switched = std::get_if<Switched>(&entry.second);
      const auto* failed = std::get_if<SwitchFailed>(&entry.second);
      return (switched != nullptr && switched->generation == m.generation) ||
             (failed != nullptr && failed->generation == m.generation);
    });
    answer(to, Revoked{m.generation, m.attempt});
  }
  template <typename Other>
  void hear(const std::string&, const Other&) {
    BOOST_FAIL("the coordinator sent a message that it should not send");
  }

  void take(const CoordinatorOutput& out, const std::string& cause) {
    BOOST_TEST_CONTEXT(cause) {
      for (const Outgoing& one : out.send) {
        BOOST_REQUIRE(alive_.count(one.to) > 0);  // nothing to the dead
        std::visit([&](const auto& message) { hear(one.to, message); }, one.message);
      }
      for (const GenerationEvent& event : out.events) check(event);
      if (!coordinator_.preparing() || coordinator_.committed()) ready_ = false;
      BOOST_REQUIRE((coordinator_.generation() == 0 || !coordinator_.training().empty()));
      BOOST_REQUIRE(worker_ids(coordinator_.training()).size() == coordinator_.training().size());
      for (const auto& member : coordinator_.training()) {
        BOOST_REQUIRE(alive_.count(member.worker_id) > 0);
      }
    }
  }

  void check(const GenerationEvent& event) {
    ++facts[event.fact];
    const Attempt now{event.generation, event.attempt};
    if (event.fact == GenerationFact::kReadyToCommit) {
      BOOST_REQUIRE((now == last_));
      ready_ = true;
    } else if (event.fact == GenerationFact::kSwitched) {
      BOOST_REQUIRE((now == committed_));
      BOOST_REQUIRE(event.generation > switched_);
      switched_ = event.generation;
    } else if (event.fact == GenerationFact::kMemberLost) {
      BOOST_REQUIRE(coordinator_.generation() == 0);
      BOOST_REQUIRE(!coordinator_.preparing());
    }
  }

  std::mt19937 random_;
  GenerationCoordinator coordinator_;
  std::set<std::string> alive_;
  int hired_ = 0;
  std::deque<std::pair<std::string, Message>> inbox_;
  std::map<Attempt, Prepare> plans_;
  std::map<Attempt, std::set<std::string>> built_;
  std::set<Attempt> used_;
  Attempt last_{0, 0}, committed_{0, 0};
  int switched_ = 0;
  bool ready_ = false;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(generation_histories_tests)

BOOST_AUTO_TEST_CASE(invariants_hold_in_random_histories) {
  const unsigned base = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << base);
  std::map<GenerationFact, int> seen;
  for (unsigned i = 0; i < 400; ++i) {
    BOOST_TEST_CONTEXT("seed " << base + i) {
      History history(base + i);
      for (int step = 0; step < 400; ++step) history.step();
      history.settle();
      for (const auto& [fact, count] : history.facts) seen[fact] += count;
    }
  }
  for (const auto fact :
       {GenerationFact::kReadyToCommit, GenerationFact::kSwitched, GenerationFact::kSwitchFailed,
        GenerationFact::kRevoked, GenerationFact::kTooLate, GenerationFact::kBuildFailed,
        GenerationFact::kMemberLost, GenerationFact::kUnexpected}) {
    BOOST_TEST_MESSAGE(to_text(fact) << ": " << seen[fact]);
    BOOST_TEST(seen[fact] > 50, to_text(fact) << " must have happened");
  }
}

BOOST_AUTO_TEST_SUITE_END()
