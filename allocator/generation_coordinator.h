// Brings one generation (a fixed, ordered set of ranks) after another into being: prepare →
// rendezvous → peers → built → commit → switched. Used by jabasd and by the local controller of
// `train --local`: the one copy of this logic. The rules, with their reasons: docs/protocol.md.
//
// Pure: no clock, no sockets. Messages from workers go in, messages to send and facts come out, in
// order.
// - One generation is in preparation at a time. begin() during a preparation makes attempt + 1 of
//   the same number, otherwise a new number. A pair (generation, attempt) is never used twice.
// - A member lost before commit → attempt + 1 without it, at once; the owner sees it by the Prepare
//   messages it sends on. If that would only repeat the generation that trains, or nobody is left
//   → kBuildFailed naming the lost member.
// - A joiner lost after the commit of a planned switch → the commit is revoked; if that comes in
//   time → attempt + 1 without it.
// - A first generation (or a recovery) is committed to every member at once and cannot be revoked;
//   a planned one is committed to rank 0 of the generation that trains, at its next boundary.
// - A fault or a loss in the generation that trains drops what is prepared, committed or not.
// - Members of what is dropped get `revoke`, except lost ones and those a new `prepare` tells.
// - Messages of earlier attempts are late, which is normal: ignored. Of attempts never made:
//   kUnexpected.
// Threads: none; one owner.
// Errors:  a call or message that does not fit is reported as a fact, not thrown.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "allocator/control_messages.h"

namespace jabas {

struct Outgoing {
  std::string to;  // worker_id
  Message message;
};

enum class GenerationFact {
  kReadyToCommit,  // all members built; the owner journals and calls commit()
  kSwitched,       // the generation now trains; `leavers` have left it
  kSwitchFailed,   // the old generation trains on; the prepared one is dropped
  kRevoked,        // taken back on request
  kTooLate,        // the revoke came after the switch began
  kBuildFailed,    // attempt dropped; the owner may call begin() again without the culprit
  // A member of the generation that trains is gone, or (worker_id empty) one reports a fault: it
  // needs a recovery. generation() is 0 from here on, training() holds the survivors in rank order.
  kMemberLost,
  kUnexpected,  // a call or message that does not fit and was not followed; text says which and why
};

struct GenerationEvent {
  GenerationFact fact;
  int generation = 0, attempt = 0;
  std::string worker_id, text;
  std::vector<std::string> leavers;  // with kSwitched
  double pause_s = 0;                // with kSwitched
  int epoch = 0;                     // with kSwitched
};

struct CoordinatorOutput {
  std::vector<Outgoing> send;
  std::vector<GenerationEvent> events;
};

class GenerationCoordinator {
 public:
  // Continues after the highest generation number used before (0 at the start; from the journal
  // after a restart).
  explicit GenerationCoordinator(int last_generation = 0);

  // After a restart of the owner: `generation` trains with `members` (index = rank), as journalled.
  // Only before begin().
  void adopt(int generation, std::vector<PlanMember> members);
  // After a restart of the owner and adopt(): this commit was journalled and its outcome is
  // unknown. It is sent again, which is harmless (idempotent by generation and attempt), and its
  // outcome awaited.
  CoordinatorOutput adopt_commit(int generation, int attempt, std::vector<PlanMember> members,
                                 std::string profile_json, bool first);

  // Starts preparing `members` (index = rank) as the next generation. `first`: nothing trains now,
  // commit goes to all; else rank 0 must train now, since it gives the state to the joiners.
  // Something in preparation already is dropped (its members build the new attempt instead).
  // Refused (kUnexpected) while something is committed: revoke() first, and wait for the answer.
  CoordinatorOutput begin(std::vector<PlanMember> members, std::string profile_json, bool first);
  // After kReadyToCommit and the journal entry.
  CoordinatorOutput commit();
  // Take back what is in preparation or committed; answered by kRevoked or kTooLate (kRevoked at
  // once if not committed, kTooLate at once for a committed first generation). After kTooLate the
  // switch's own outcome follows.
  CoordinatorOutput revoke();

  // Handles rendezvous, built, build_failed, switched, switch_failed, too_late, revoked, fault, and
  // leaving (of ranks that a committed switch leaves behind). Others are ignored.
  CoordinatorOutput on_message(const std::string& worker_id, const Message& message);
  // The worker's connection is lost or its job ended. Harmless for a worker that is in no
  // generation or has left one.
  CoordinatorOutput on_lost(const std::string& worker_id);

  // Members of the generation that trains; after kMemberLost the survivors, until the recovery has
  // switched.
  const std::vector<PlanMember>& training() const { return training_; }
  int generation() const { return generation_; }  // 0 = none trains
  bool preparing() const { return preparation_.has_value(); }
  bool committed() const { return preparation_ && preparation_->committed; }
  std::vector<PlanMember> prepared_members() const;  // empty when none

 private:
  // What becomes of a commit once the revoke is answered in time.
  enum class Revoking { kNo, kForOwner, kForLoss };
  struct Preparation {
    int generation = 0, attempt = 0;
    std::vector<PlanMember> members;
    std::string profile_json;
    bool first = false, ready = false, committed = false;
    Revoking revoking = Revoking::kNo;
    std::vector<std::optional<std::string>> blobs;  // by rank
    std::set<std::string> built;
    std::set<std::string> lost;  // after commit: gone before the outcome is known
    std::set<std::string> left;  // after commit: said goodbye, so the switch was made
  };

  void on(const std::string& worker_id, const Rendezvous& message, CoordinatorOutput& out);
  void on(const std::string& worker_id, const Built& message, CoordinatorOutput& out);
  void on(const std::string& worker_id, const BuildFailed& message, CoordinatorOutput& out);
  void on(const std::string& worker_id, const Switched& message, CoordinatorOutput& out);
  void on(const std::string& worker_id, const SwitchFailed& message, CoordinatorOutput& out);
  void on(const std::string& worker_id, const TooLate& message, CoordinatorOutput& out);
  void on(const std::string& worker_id, const Revoked& message, CoordinatorOutput& out);
  void on(const std::string& worker_id, const Fault& message, CoordinatorOutput& out);
  void on(const std::string& worker_id, const Leaving& message, CoordinatorOutput& out);

  // Does the message belong to the present preparation? Late ones are ignored, impossible ones
  // reported.
  template <typename M>
  bool current(const std::string& worker_id, const M& message, CoordinatorOutput& out) const;
  void start(int generation, int attempt, std::vector<PlanMember> members, std::string profile_json,
             bool first, CoordinatorOutput& out);
  void send_commit(CoordinatorOutput& out) const;
  void continue_without(const std::set<std::string>& lost, CoordinatorOutput& out);
  // Ends the preparation; its members (but not those in `informed`) are told.
  void drop(const std::set<std::string>& informed, CoordinatorOutput& out);
  // The generation `number` of `members` does not train any more.
  void break_generation(int number, std::vector<PlanMember> members, const std::string& lost,
                        const std::string& text, CoordinatorOutput& out);
  GenerationEvent event(GenerationFact fact, const std::string& worker_id = "",
                        const std::string& text = "") const;
  void unexpected(CoordinatorOutput& out, const std::string& worker_id,
                  const std::string& text) const;

  int last_generation_;
  int generation_ = 0;
  std::vector<PlanMember> training_;
  std::optional<Preparation> preparation_;
};

std::string to_text(GenerationFact fact);

}  // namespace jabas
