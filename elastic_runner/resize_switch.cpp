#include "elastic_runner/resize_switch.h"

#include <algorithm>
#include <cstdio>

#include "elastic_runner/generation_entry.h"
#include "elastic_runner/join_signal.h"
#include "elastic_runner/split_table.h"

namespace jabas {
namespace {

constexpr std::chrono::milliseconds kSwitchBarrier{5000};
constexpr std::chrono::seconds kLocalResizeDeadline{120};

// What rank 0 of g announces.
struct Announcement {
  std::int64_t generation = 0, attempt = 0;  // 0 = stay
};

// `train --local N,M,…` asks for exact numbers of workers, so there rank 0 waits for the resize;
// elsewhere it never does.
Announcement announcement(TrainingContext& context, const ActiveGeneration& generation) {
  const auto& list = context.spec.workers_per_epoch;
  const auto present = std::ssize(generation.prepare.members);
  if (!list.empty() && workers_in_epoch(list, context.state.epoch) == present) return {};
  const auto deadline =
      Clock::now() + (list.empty() ? std::chrono::seconds(0) : kLocalResizeDeadline);
  auto commit = context.builder.take_commit();
  while (!commit && Clock::now() < deadline && !context.orders.stop() &&
         !context.control.lease_lost() && !context.builder.first_committed()) {
    context.builder.wait(std::chrono::milliseconds(50));
    commit = context.builder.take_commit();
  }
  if (commit) return {commit->first, commit->second};
  if (!list.empty()) {
    std::fprintf(stderr,
                 "jabas-run: epoch %d begins with %d workers: the resize to %d was not ready\n",
                 context.state.epoch, int(present), workers_in_epoch(list, context.state.epoch));
  }
  return {};
}

void call_joiners(const ActiveGeneration& old, const PreparedGeneration& next) {
  const auto& before = old.prepare.members;
  const JoinSignal go = JoinSignal::kGo;
  for (std::size_t rank = 1; rank < next.prepare.members.size(); ++rank) {
    const auto& id = next.prepare.members[rank].worker_id;
    const bool survivor = std::any_of(before.begin(), before.end(), [&](const PlanMember& member) {
      return member.worker_id == id;
    });
    if (!survivor) next.communicator->send(int(rank), &go, sizeof go, kSwitchBarrier);
  }
}

// (b) for a survivor. Returns why it failed, "" if it did not. Sets the plan on the new rank 0.
std::string meet(const TrainingContext& context, const ActiveGeneration& old,
                 const PreparedGeneration& next, std::optional<BatchPlan>& plan) {
  try {
    if (next.communicator->rank() == 0) {
      PlanResult result = plan_generation(context, next.prepare);
      if (!result.plan) return result.reason;
      plan = std::move(result.plan);
      call_joiners(old, next);
    }
    next.communicator->barrier(kSwitchBarrier);
    return "";
  } catch (const CommError& error) {
    return error.what();
  }
}

}  // namespace

BoundaryResult switch_at_boundary(TrainingContext& context, ActiveGeneration& generation,
                                  Clock::time_point paused_since) {
  Communicator& old = *generation.communicator;
  const bool waits = !context.spec.workers_per_epoch.empty();
  old.set_timeout(waits ? kLocalResizeDeadline + kUnknownCollectiveTimeout
                        : kUnknownCollectiveTimeout);
  Announcement next;
  if (old.rank() == 0) next = announcement(context, generation);
  old.broadcast(&next, sizeof next, 0);
  if (next.generation == 0) return BoundaryResult::kStay;

  const GenerationKey key{int(next.generation), int(next.attempt)};
  auto prepared = context.builder.take(key);
  const bool leaver = !prepared && !context.builder.was_member_of(key.first);
  std::optional<BatchPlan> plan;
  std::string failure;
  if (prepared) {
    failure = meet(context, generation, *prepared, plan);
  } else if (!leaver) {
    failure = context.worker_id + " no longer has this attempt";
  }
  if (!failure.empty()) prepared.reset();  // frees the others from the barrier

  std::int64_t outcome = failure.empty() ? 1 : 0;
  old.set_timeout(kUnknownCollectiveTimeout);
  old.all_reduce_min(&outcome, 1);
  if (outcome == 0) {
    if (!failure.empty()) {
      std::fprintf(stderr,
                   "jabas-run: resize to generation %d failed on %s: %s; training goes on\n",
                   key.first, context.worker_id.c_str(), failure.c_str());
    }
    if (old.rank() == 0) {
      context.control.send(
          SwitchFailed{key.first, key.second, failure.empty() ? "a member did not come" : failure});
    }
    return BoundaryResult::kStay;
  }
  settle(old);
  if (leaver) return BoundaryResult::kLeft;
  generation.communicator.reset();
  context.state.generation = key.first;  // a fault from here on is one of the new generation
  generation = begin_generation(context, std::move(*prepared), 0, true, std::move(plan));
  generation.paused_since = paused_since;
  return BoundaryResult::kSwitched;
}

}  // namespace jabas
