// What workers say to the coordinator: one function per message.
#include <algorithm>
#include <utility>

#include "allocator/generation_coordinator.h"
#include "allocator/plan_members.h"

namespace jabas {
namespace {

bool complete(const std::vector<std::optional<std::string>>& blobs) {
  return std::all_of(blobs.begin(), blobs.end(), [](const auto& blob) { return blob.has_value(); });
}

std::string name(int generation, int attempt) {
  return "generation " + std::to_string(generation) + " attempt " + std::to_string(attempt);
}

}  // namespace

template <typename M>
bool GenerationCoordinator::current(const std::string& worker_id, const M& message,
                                    CoordinatorOutput& out) const {
  const auto here = std::make_pair(preparation_ ? preparation_->generation : last_generation_,
                                   preparation_ ? preparation_->attempt : 0);
  const auto there = std::make_pair(message.generation, message.attempt);
  if (preparation_ && there == here) return true;
  const bool never_made = preparation_ ? there > here : message.generation > last_generation_;
  if (never_made || message.generation < 1 || message.attempt < 1) {
    unexpected(out, worker_id,
               type_name(message) + " of " + name(message.generation, message.attempt) +
                   ", which was never prepared");
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
  if (!current(worker_id, message, out) || preparation_->committed) return;
  Preparation& now = *preparation_;
  const auto size = static_cast<int>(now.members.size());
  if (message.rank < 0 || message.rank >= size ||
      now.members[static_cast<std::size_t>(message.rank)].worker_id != worker_id) {
    unexpected(
        out, worker_id,
        "rendezvous for rank " + std::to_string(message.rank) + ", which is not this worker's");
    return;
  }
  auto& blob = now.blobs[static_cast<std::size_t>(message.rank)];
  const bool answered = complete(now.blobs);
  if (answered && *blob != message.blob) {
    unexpected(out, worker_id, "rendezvous with another blob after the peers were sent");
    return;
  }
  blob = message.blob;
  if (!complete(now.blobs)) return;  // peers go out once, and again to who asks again
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
  const bool has_peers = now.members.size() == 1 || now.committed || complete(now.blobs);
  if (!contains(now.members, worker_id) || !has_peers) {
    unexpected(out, worker_id,
               has_peers ? "built, but is no member" : "built before the peers were sent");
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
    unexpected(out, worker_id,
               "build_failed " +
                   std::string(preparation_->committed ? "after the commit" : "of no member") +
                   ": " + message.reason);
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
    unexpected(out, worker_id,
               preparation_->committed ? "switched, but rank 0 is " + rank0
                                       : "switched before the commit");
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
    unexpected(out, worker_id,
               "switch_failed " +
                   std::string(now.committed ? "from another than rank 0" : "before the commit") +
                   ": " + message.reason);
    return;
  }
  out.events.push_back(event(GenerationFact::kSwitchFailed, worker_id, message.reason));
  // The ranks of the old generation have dropped the new one themselves.
  drop(now.first ? std::set<std::string>{} : worker_ids(training_), out);
}

void GenerationCoordinator::on(const std::string& worker_id, const TooLate& message,
                               CoordinatorOutput& out) {
  if (!current(worker_id, message, out)) return;
  if (!preparation_->committed) {
    unexpected(out, worker_id, "too_late before the commit");
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
    unexpected(out, worker_id, "revoked, but was not asked");
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
    unexpected(out, worker_id,
               "fault in generation " + std::to_string(message.generation) +
                   ", which does not train: " + message.what);
  }
}

void GenerationCoordinator::on(const std::string& worker_id, const Leaving&, CoordinatorOutput&) {
  if (committed() && !contains(preparation_->members, worker_id))
    preparation_->left.insert(worker_id);
}

}  // namespace jabas
