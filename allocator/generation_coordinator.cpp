#include "allocator/generation_coordinator.h"

#include <algorithm>
#include <utility>

#include "allocator/error.h"
#include "allocator/plan_members.h"

namespace jabas {

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

void GenerationCoordinator::unexpected(CoordinatorOutput& out, const std::string& worker_id,
                                       const std::string& text) const {
  out.events.push_back(event(GenerationFact::kUnexpected, worker_id, text));
}

std::vector<PlanMember> GenerationCoordinator::prepared_members() const {
  return preparation_ ? preparation_->members : std::vector<PlanMember>{};
}

void GenerationCoordinator::adopt(int generation, std::vector<PlanMember> members) {
  JABAS_ASSERT(!preparation_ && generation_ == 0, "adopt() comes before begin()");
  last_generation_ = std::max(last_generation_, generation);
  generation_ = generation;
  training_ = std::move(members);
}

CoordinatorOutput GenerationCoordinator::adopt_commit(int generation, int attempt,
                                                      std::vector<PlanMember> members,
                                                      std::string profile_json, bool first) {
  JABAS_ASSERT(!preparation_, "adopt_commit() comes before begin()");
  JABAS_ASSERT(first || !training_.empty(), "adopt() comes before adopt_commit()");
  CoordinatorOutput out;
  last_generation_ = std::max(last_generation_, generation);
  Preparation& adopted = preparation_.emplace();
  adopted.generation = generation;
  adopted.attempt = attempt;
  adopted.built = worker_ids(members);
  adopted.members = std::move(members);
  adopted.profile_json = std::move(profile_json);
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
    problem = "the one before is committed; revoke it first";
  } else if (members.empty()) {
    problem = "no members";
  } else if (worker_ids(members).size() != members.size()) {
    problem = "a member appears twice";
  } else if (!first && generation_ == 0) {
    problem = "no generation trains, so this must be a first one";
  } else if (!first && !contains(training_, members.front().worker_id)) {
    problem = "its rank 0, " + members.front().worker_id + ", does not train now";
  }
  if (!problem.empty()) {
    unexpected(out, "", "cannot prepare: " + problem);
    return out;
  }
  if (first) generation_ = 0;
  int generation = last_generation_ + 1, attempt = 1;
  if (preparation_) {
    generation = preparation_->generation;
    attempt = preparation_->attempt + 1;
    drop(worker_ids(members), out);
  }
  start(generation, attempt, std::move(members), std::move(profile_json), first, out);
  return out;
}

CoordinatorOutput GenerationCoordinator::commit() {
  CoordinatorOutput out;
  if (!preparation_ || !preparation_->ready || preparation_->committed) {
    unexpected(out, "",
               "cannot commit: " + std::string(!preparation_ ? "nothing is prepared"
                                               : committed() ? "it is committed already"
                                                             : "not all members have built"));
    return out;
  }
  preparation_->committed = true;
  send_commit(out);
  return out;
}

CoordinatorOutput GenerationCoordinator::revoke() {
  CoordinatorOutput out;
  if (!preparation_) {
    unexpected(out, "", "cannot revoke: nothing is prepared");
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
  const bool pointless = rest.empty() || (!now.first && worker_ids(rest) == worker_ids(training_));
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
  drop(worker_ids(rest), out);
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
