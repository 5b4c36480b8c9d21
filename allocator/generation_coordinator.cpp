#include "allocator/generation_coordinator.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "allocator/error.h"

namespace jabas {
namespace {

bool contains(const std::vector<PlanMember>& members, const std::string& worker_id) {
  return std::any_of(members.begin(), members.end(),
                     [&](const PlanMember& member) { return member.worker_id == worker_id; });
}

std::vector<PlanMember> without(std::vector<PlanMember> members,
                                const std::set<std::string>& gone) {
  std::erase_if(members,
                [&](const PlanMember& member) { return gone.count(member.worker_id) > 0; });
  return members;
}

std::set<std::string> ids(const std::vector<PlanMember>& members) {
  std::set<std::string> result;
  for (const auto& member : members) result.insert(member.worker_id);
  return result;
}

std::string name(int generation, int attempt) {
  return "generation " + std::to_string(generation) + " attempt " + std::to_string(attempt);
}

void unexpected(CoordinatorOutput& out, GenerationEvent event) {
  event.fact = GenerationFact::kUnexpected;
  out.events.push_back(std::move(event));
}

}  // namespace

GenerationCoordinator::GenerationCoordinator(int last_generation)
    : last_generation_(last_generation) {}

GenerationEvent GenerationCoordinator::event(GenerationFact fact, const std::string& worker_id,
                                             const std::string& text) const {
  GenerationEvent result;
  result.fact = fact;
  result.generation = preparation_ ? preparation_->generation : generation_;
  result.attempt = preparation_ ? preparation_->attempt : 0;
  result.worker_id = worker_id;
  result.text = text;
  return result;
}

std::vector<PlanMember> GenerationCoordinator::prepared_members() const {
  return preparation_ ? preparation_->members : std::vector<PlanMember>{};
}

// ---- what the owner asks for
// ---------------------------------------------------------------------------------

void GenerationCoordinator::adopt(int generation, std::vector<PlanMember> members) {
  JABAS_ASSERT(!preparation_ && generation_ == 0, "adopt() comes before begin()");
  last_generation_ = std::max(last_generation_, generation);
  generation_ = generation;
  training_ = std::move(members);
}

CoordinatorOutput GenerationCoordinator::adopt_commit(int generation, int attempt,
                                                      std::vector<PlanMember> members, bool first) {
  JABAS_ASSERT(!preparation_, "adopt_commit() comes before begin()");
  JABAS_ASSERT(first || !training_.empty(), "adopt() comes before adopt_commit()");
  CoordinatorOutput out;
  last_generation_ = std::max(last_generation_, generation);
  Preparation& adopted = preparation_.emplace();
  adopted.generation = generation;
  adopted.attempt = attempt;
  adopted.built = ids(members);
  adopted.members = std::move(members);
  adopted.first = first;
  adopted.ready = adopted.committed = true;
  send_commit(out);
  return out;
}

CoordinatorOutput GenerationCoordinator::begin(std::vector<PlanMember> members,
                                               std::string profile_json, bool first) {
  CoordinatorOutput out;
  std::string problem;
  if (committed()) {
    problem =
        name(preparation_->generation, preparation_->attempt) + " is committed; revoke it first";
  } else if (members.empty()) {
    problem = "no members";
  } else if (ids(members).size() != members.size()) {
    problem = "a member appears twice";
  } else if (!first && generation_ == 0) {
    problem = "no generation trains, so this must be a first one";
  } else if (!first && !contains(training_, members.front().worker_id)) {
    problem = "its rank 0, " + members.front().worker_id + ", does not train now";
  }
  if (!problem.empty()) {
    unexpected(out, event(GenerationFact::kUnexpected, "", "cannot prepare: " + problem));
    return out;
  }
  if (first) generation_ = 0;
  int generation = last_generation_ + 1, attempt = 1;
  if (preparation_) {
    generation = preparation_->generation;
    attempt = preparation_->attempt + 1;
    drop(ids(members), out);
  }
  start(generation, attempt, std::move(members), std::move(profile_json), first, out);
  return out;
}

CoordinatorOutput GenerationCoordinator::commit() {
  CoordinatorOutput out;
  if (!preparation_ || !preparation_->ready || preparation_->committed) {
    unexpected(
        out, event(GenerationFact::kUnexpected, "",
                   "cannot commit: " + std::string(!preparation_ ? "nothing is prepared"
                                                   : committed() ? "it is committed already"
                                                                 : "not all members have built")));
    return out;
  }
  preparation_->committed = true;
  send_commit(out);
  return out;
}

CoordinatorOutput GenerationCoordinator::revoke() {
  CoordinatorOutput out;
  if (!preparation_) {
    unexpected(out, event(GenerationFact::kUnexpected, "", "cannot revoke: nothing is prepared"));
  } else if (!preparation_->committed) {
    out.events.push_back(event(GenerationFact::kRevoked));
    drop({}, out);
  } else if (preparation_->first) {
    out.events.push_back(
        event(GenerationFact::kTooLate, "", "a first generation starts at its commit"));
  } else {
    if (preparation_->revoking == Revoking::kNo) {
      out.send.push_back(
          {training_.front().worker_id, Revoke{preparation_->generation, preparation_->attempt}});
    }
    preparation_->revoking = Revoking::kForOwner;
  }
  return out;
}

// ---- steps
// ---------------------------------------------------------------------------------------------------

void GenerationCoordinator::start(int generation, int attempt, std::vector<PlanMember> members,
                                  std::string profile_json, bool first, CoordinatorOutput& out) {
  last_generation_ = std::max(last_generation_, generation);
  Preparation& next = preparation_.emplace();
  next.generation = generation;
  next.attempt = attempt;
  next.members = std::move(members);
  next.profile_json = std::move(profile_json);
  next.first = first;
  next.blobs.resize(next.members.size());
  const Prepare prepare{generation, attempt, next.members, next.profile_json, first};
  for (const auto& member : next.members) out.send.push_back({member.worker_id, prepare});
}

void GenerationCoordinator::send_commit(CoordinatorOutput& out) const {
  const Preparation& now = *preparation_;
  if (!now.first) {
    out.send.push_back(
        {training_.front().worker_id, Commit{now.generation, now.attempt, "boundary"}});
    return;
  }
  for (const auto& member : now.members) {
    out.send.push_back({member.worker_id, Commit{now.generation, now.attempt, "now"}});
  }
}

void GenerationCoordinator::drop(const std::set<std::string>& informed, CoordinatorOutput& out) {
  const Preparation dropped = std::move(*preparation_);
  preparation_.reset();
  for (const auto& member : dropped.members) {
    const std::string& id = member.worker_id;
    if (informed.count(id) > 0 || dropped.lost.count(id) > 0) continue;
    out.send.push_back({id, Revoke{dropped.generation, dropped.attempt}});
  }
}

void GenerationCoordinator::continue_without(const std::set<std::string>& lost,
                                             CoordinatorOutput& out) {
  Preparation& now = *preparation_;
  now.lost.insert(lost.begin(), lost.end());
  std::vector<PlanMember> rest = without(now.members, lost);
  const bool pointless = rest.empty() || (!now.first && ids(rest) == ids(training_));
  if (pointless) {
    out.events.push_back(event(
        GenerationFact::kBuildFailed, *lost.begin(),
        rest.empty() ? "lost, and nobody else is left" : "lost, and without it nothing changes"));
    drop({}, out);
    return;
  }
  const int generation = now.generation, attempt = now.attempt + 1;
  std::string profile_json = now.profile_json;
  const bool first = now.first;
  drop(ids(rest), out);
  start(generation, attempt, std::move(rest), std::move(profile_json), first, out);
}

void GenerationCoordinator::break_generation(int number, std::vector<PlanMember> members,
                                             const std::string& lost, const std::string& text,
                                             CoordinatorOutput& out) {
  if (preparation_) {
    preparation_->lost.insert(lost);
    members = without(std::move(members), preparation_->lost);
    members = without(std::move(members), preparation_->left);
    drop({}, out);
  }
  training_ = without(std::move(members), {lost});
  generation_ = 0;
  GenerationEvent broken = event(GenerationFact::kMemberLost, lost, text);
  broken.generation = number;
  out.events.push_back(std::move(broken));
}

// ---- what workers say
// ----------------------------------------------------------------------------------------

template <typename M>
bool GenerationCoordinator::current(const std::string& worker_id, const M& message,
                                    CoordinatorOutput& out) const {
  const auto here = std::make_pair(preparation_ ? preparation_->generation : last_generation_,
                                   preparation_ ? preparation_->attempt : 0);
  const auto there = std::make_pair(message.generation, message.attempt);
  if (preparation_ && there == here) return true;
  const bool never_made = preparation_ ? there > here : message.generation > last_generation_;
  if (never_made || message.generation < 1 || message.attempt < 1) {
    unexpected(out, event(GenerationFact::kUnexpected, worker_id,
                          type_name(message) + " of " + name(message.generation, message.attempt) +
                              ", which was never prepared"));
  }
  return false;
}

CoordinatorOutput GenerationCoordinator::on_message(const std::string& worker_id,
                                                    const Message& message) {
  CoordinatorOutput out;
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { this->on(worker_id, one, out); }) this->on(worker_id, one, out);
      },
      message);
  return out;
}

void GenerationCoordinator::on(const std::string& worker_id, const Rendezvous& message,
                               CoordinatorOutput& out) {
  if (!current(worker_id, message, out)) return;
  Preparation& now = *preparation_;
  const auto size = static_cast<int>(now.members.size());
  if (message.rank < 0 || message.rank >= size ||
      now.members[static_cast<std::size_t>(message.rank)].worker_id != worker_id) {
    unexpected(out, event(GenerationFact::kUnexpected, worker_id,
                          "rendezvous for rank " + std::to_string(message.rank) +
                              ", which is not this worker's"));
    return;
  }
  const auto complete = [&] {
    return std::all_of(now.blobs.begin(), now.blobs.end(),
                       [](const auto& b) { return b.has_value(); });
  };
  auto& blob = now.blobs[static_cast<std::size_t>(message.rank)];
  const bool answered = complete();
  if (answered && *blob != message.blob) {
    unexpected(out, event(GenerationFact::kUnexpected, worker_id,
                          "rendezvous with another blob after the peers were sent"));
    return;
  }
  blob = message.blob;
  if (!complete()) return;
  Peers peers{now.generation, now.attempt, {}};
  for (const auto& each : now.blobs) peers.blobs.push_back(*each);
  for (const auto& member : now.members) {
    if (!answered || member.worker_id == worker_id) out.send.push_back({member.worker_id, peers});
  }
}

void GenerationCoordinator::on(const std::string& worker_id, const Built& message,
                               CoordinatorOutput& out) {
  if (!current(worker_id, message, out)) return;
  Preparation& now = *preparation_;
  // A lone member needs no peers to build its communicator.
  const bool has_peers =
      now.members.size() == 1 || now.committed ||
      std::all_of(now.blobs.begin(), now.blobs.end(), [](const auto& b) { return b.has_value(); });
  if (!contains(now.members, worker_id) || !has_peers) {
    unexpected(out,
               event(GenerationFact::kUnexpected, worker_id,
                     has_peers ? "built, but is no member" : "built before the peers were sent"));
    return;
  }
  now.built.insert(worker_id);
  if (now.ready || now.built.size() < now.members.size()) return;
  now.ready = true;
  out.events.push_back(event(GenerationFact::kReadyToCommit));
}

void GenerationCoordinator::on(const std::string& worker_id, const BuildFailed& message,
                               CoordinatorOutput& out) {
  if (!current(worker_id, message, out)) return;
  if (preparation_->committed || !contains(preparation_->members, worker_id)) {
    unexpected(
        out, event(GenerationFact::kUnexpected, worker_id,
                   "build_failed " +
                       std::string(preparation_->committed ? "after the commit" : "of no member") +
                       ": " + message.reason));
    return;
  }
  out.events.push_back(event(GenerationFact::kBuildFailed, worker_id, message.reason));
  drop({}, out);
}

void GenerationCoordinator::on(const std::string& worker_id, const Switched& message,
                               CoordinatorOutput& out) {
  if (!current(worker_id, message, out)) return;
  const std::string& rank0 = preparation_->members.front().worker_id;
  if (!preparation_->committed || worker_id != rank0) {
    unexpected(out, event(GenerationFact::kUnexpected, worker_id,
                          preparation_->committed ? "switched, but rank 0 is " + rank0
                                                  : "switched before the commit"));
    return;
  }
  GenerationEvent done = event(GenerationFact::kSwitched, worker_id);
  done.pause_s = message.pause_s;
  done.epoch = message.epoch;
  for (const auto& member : training_) {
    if (!contains(preparation_->members, member.worker_id))
      done.leavers.push_back(member.worker_id);
  }
  out.events.push_back(std::move(done));
  const std::set<std::string> lost = preparation_->lost;
  generation_ = preparation_->generation;
  training_ = std::move(preparation_->members);
  preparation_.reset();
  for (const auto& id : lost) {
    const CoordinatorOutput after = on_lost(id);
    out.events.insert(out.events.end(), after.events.begin(), after.events.end());
  }
}

void GenerationCoordinator::on(const std::string& worker_id, const SwitchFailed& message,
                               CoordinatorOutput& out) {
  if (!current(worker_id, message, out)) return;
  const Preparation& now = *preparation_;
  const bool may_tell =
      now.first ? contains(now.members, worker_id) : worker_id == training_.front().worker_id;
  if (!now.committed || !may_tell) {
    unexpected(out, event(GenerationFact::kUnexpected, worker_id,
                          "switch_failed " +
                              std::string(now.committed ? "from another than rank 0"
                                                        : "before the commit") +
                              ": " + message.reason));
    return;
  }
  out.events.push_back(event(GenerationFact::kSwitchFailed, worker_id, message.reason));
  // The ranks of the old generation have dropped the new one themselves.
  drop(now.first ? std::set<std::string>{} : ids(training_), out);
}

void GenerationCoordinator::on(const std::string& worker_id, const TooLate& message,
                               CoordinatorOutput& out) {
  if (!current(worker_id, message, out)) return;
  if (!preparation_->committed) {
    unexpected(out, event(GenerationFact::kUnexpected, worker_id, "too_late before the commit"));
    return;
  }
  // A revoke for a lost joiner was ours, not the owner's; the switch will fail or has been made.
  if (preparation_->revoking != Revoking::kForLoss) {
    out.events.push_back(event(GenerationFact::kTooLate, worker_id));
  }
  preparation_->revoking = Revoking::kNo;
}

void GenerationCoordinator::on(const std::string& worker_id, const Revoked& message,
                               CoordinatorOutput& out) {
  if (!current(worker_id, message, out)) return;
  if (preparation_->revoking == Revoking::kNo || worker_id != training_.front().worker_id) {
    unexpected(out, event(GenerationFact::kUnexpected, worker_id, "revoked, but was not asked"));
    return;
  }
  if (preparation_->revoking == Revoking::kForLoss) {
    continue_without(std::set<std::string>(preparation_->lost), out);
    return;
  }
  out.events.push_back(event(GenerationFact::kRevoked, worker_id));
  drop({worker_id}, out);
}

void GenerationCoordinator::on(const std::string& worker_id, const Fault& message,
                               CoordinatorOutput& out) {
  const std::string text = worker_id + " reports: " + message.what;
  if (generation_ != 0 && message.generation == generation_) {
    break_generation(generation_, training_, "", text, out);
  } else if (committed() && message.generation == preparation_->generation) {
    // The switch was made and its report is still on the way.
    break_generation(preparation_->generation, preparation_->members, "", text, out);
  } else if (message.generation < 1 || message.generation > last_generation_ ||
             (preparation_ && message.generation == preparation_->generation)) {
    unexpected(out, event(GenerationFact::kUnexpected, worker_id,
                          "fault in generation " + std::to_string(message.generation) +
                              ", which does not train: " + message.what));
  }
}

void GenerationCoordinator::on(const std::string& worker_id, const Leaving&, CoordinatorOutput&) {
  if (committed() && !contains(preparation_->members, worker_id))
    preparation_->left.insert(worker_id);
}

CoordinatorOutput GenerationCoordinator::on_lost(const std::string& worker_id) {
  CoordinatorOutput out;
  const bool trains = contains(training_, worker_id);
  const bool prepared = preparation_ && contains(preparation_->members, worker_id);
  if (preparation_ && preparation_->left.count(worker_id) > 0) return out;
  if (trains && generation_ != 0) {
    break_generation(generation_, training_, worker_id, "lost", out);
  } else if (prepared && preparation_->committed && preparation_->first) {
    break_generation(preparation_->generation, preparation_->members, worker_id, "lost", out);
  } else if (prepared && preparation_->committed) {
    if (preparation_->revoking == Revoking::kNo) {
      out.send.push_back(
          {training_.front().worker_id, Revoke{preparation_->generation, preparation_->attempt}});
      preparation_->revoking = Revoking::kForLoss;
    }
    preparation_->lost.insert(worker_id);
  } else {
    training_ = without(std::move(training_), {worker_id});
    if (prepared) {
      continue_without({worker_id}, out);
    } else if (trains && !preparation_) {
      out.events.push_back(
          event(GenerationFact::kMemberLost, worker_id, "lost before the recovery"));
    }
  }
  return out;
}

std::string to_text(GenerationFact fact) {
  switch (fact) {
    case GenerationFact::kReadyToCommit:
      return "ready to commit";
    case GenerationFact::kSwitched:
      return "switched";
    case GenerationFact::kSwitchFailed:
      return "switch failed";
    case GenerationFact::kRevoked:
      return "revoked";
    case GenerationFact::kTooLate:
      return "too late";
    case GenerationFact::kBuildFailed:
      return "build failed";
    case GenerationFact::kMemberLost:
      return "member lost";
    case GenerationFact::kUnexpected:
      return "unexpected";
  }
  JABAS_ASSERT(false, "a fact without text");
}

}  // namespace jabas
