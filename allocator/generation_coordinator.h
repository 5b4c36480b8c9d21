// Brings one generation (a fixed, ordered set of ranks) after another into being: prepare → rendezvous → peers → built →
// commit → switched. Used by jabasd and by the local controller of `train --local`: the one copy of this logic.
//
// Pure: no clock, no sockets. Messages from workers go in, messages to send and facts come out, in order.
// Rules (shared design "resize" 3): one generation in preparation at a time; a member lost before commit → attempt + 1
// without it; numbers are never reused; a first generation (or a recovery) is committed to every member at once,
// a planned one to rank 0 of the generation that trains, at its next boundary.
// Threads: none; one owner.   Errors: a message that does not fit the present state is reported as a fact, not thrown.
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
  kReadyToCommit,   // all members built; the owner journals and calls commit()
  kSwitched,        // the generation now trains; `leavers` have left it
  kSwitchFailed,    // the old generation trains on; the prepared one is dropped
  kRevoked,         // taken back on request
  kTooLate,         // the revoke came after the switch began
  kBuildFailed,     // attempt dropped; the owner may call begin() again without the culprit
  kMemberLost,      // a member of the generation that trains is gone: it needs a recovery
  kUnexpected,      // a message that does not fit; text says which
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
  // Continues after the highest generation number used before (0 at the start; from the journal after a restart).
  explicit GenerationCoordinator(int last_generation = 0);

  // Starts preparing `members` (index = rank) as the next generation. `first`: nothing trains now, commit goes to all.
  // Something in preparation already is dropped (its members build the new attempt instead).
  CoordinatorOutput begin(std::vector<PlanMember> members, std::string profile_json, bool first);
  // After kReadyToCommit and the journal entry.
  CoordinatorOutput commit();
  // Take back what is in preparation or committed; answered by kRevoked or kTooLate (kRevoked at once if not committed).
  CoordinatorOutput revoke();

  // Handles rendezvous, built, build_failed, switched, switch_failed, too_late, revoked, fault. Others are ignored.
  CoordinatorOutput on_message(const std::string& worker_id, const Message& message);
  // The worker's connection is lost or its job ended.
  CoordinatorOutput on_lost(const std::string& worker_id);

  const std::vector<PlanMember>& training() const { return training_; }  // members of the generation that trains
  int generation() const { return generation_; }                          // 0 = none trains
  bool preparing() const { return preparation_.has_value(); }
  bool committed() const { return preparation_ && preparation_->committed; }
  std::vector<PlanMember> prepared_members() const;                       // empty when none

 private:
  struct Preparation {
    int generation = 0, attempt = 0;
    std::vector<PlanMember> members;
    std::string profile_json;
    bool first = false, ready = false, committed = false, revoking = false;
    std::vector<std::optional<std::string>> blobs;
    std::set<std::string> built;
  };
  CoordinatorOutput send_prepare();
  int last_generation_;
  int generation_ = 0;
  std::vector<PlanMember> training_;
  std::optional<Preparation> preparation_;
};

}  // namespace jabas
