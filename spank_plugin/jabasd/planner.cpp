#include "spank_plugin/jabasd/planner.h"

#include <algorithm>
#include <map>

namespace jabas {
namespace {

int rank_in(const std::vector<PlanMember>& generation, const std::string& worker_id) {
  for (std::size_t rank = 0; rank < generation.size(); ++rank) {
    if (generation[rank].worker_id == worker_id) return int(rank);
  }
  return -1;
}

// Rank of the member's first worker in the generation that trains; -1 when none of them trains.
int first_rank(const std::vector<PlanMember>& training, const PlanUnit& member) {
  int first = -1;
  for (const PlanMember& worker : member.workers) {
    const int rank = rank_in(training, worker.worker_id);
    if (rank >= 0 && (first < 0 || rank < first)) first = rank;
  }
  return first;
}

// How unwilling one is to give it back: what has not started costs nothing yet.
int standing(const PlanUnit& member) { return (member.started ? 1 : 0) + (member.ready ? 1 : 0); }

std::set<std::string> ids(const std::vector<PlanMember>& members) {
  std::set<std::string> result;
  for (const PlanMember& member : members) result.insert(member.worker_id);
  return result;
}

}  // namespace

RequestPlan plan_requests(const GpuCounts& wanted, const GpuCounts& base,
                          const std::vector<PlanUnit>& members, int unit,
                          const std::set<std::string>& blocked) {
  std::map<std::string, std::vector<const PlanUnit*>> by_type;
  std::set<std::string> types;
  for (const auto& [type, gpus] : wanted) types.insert(type);
  for (const PlanUnit& member : members) {
    if (member.leaving) continue;
    by_type[member.gpu_type].push_back(&member);
    types.insert(member.gpu_type);
  }
  RequestPlan plan;
  for (const std::string& type : types) {
    std::vector<const PlanUnit*>& held = by_type[type];
    int surplus = -std::max(0, count_of(wanted, type) - count_of(base, type));
    for (const PlanUnit* member : held) surplus += member->gpus;
    for (; surplus <= -unit && !blocked.count(type); surplus += unit)
      plan.ask.push_back({type, unit});
    std::stable_sort(held.begin(), held.end(), [](const PlanUnit* a, const PlanUnit* b) {
      return standing(*a) != standing(*b) ? standing(*a) < standing(*b) : a->request > b->request;
    });
    for (const PlanUnit* member : held) {
      if (surplus < member->gpus) break;
      if (member->in_use) continue;
      plan.give_back.push_back(member->request);
      surplus -= member->gpus;
    }
  }
  return plan;
}

GenerationPlan plan_generation(const GpuCounts& wanted, const std::vector<PlanMember>& ready_base,
                               const std::vector<PlanMember>& training,
                               const std::vector<PlanUnit>& members) {
  GpuCounts base;
  for (const PlanMember& worker : ready_base) ++base[worker.gpu_type];

  std::vector<const PlanUnit*> present, standby, unwanted, chosen;
  for (const PlanUnit& member : members) {
    if (!member.ready) continue;
    if (first_rank(training, member) >= 0) {
      present.push_back(&member);
    } else if (!member.leaving) {
      standby.push_back(&member);
    }
  }
  std::stable_sort(present.begin(), present.end(), [&](const PlanUnit* a, const PlanUnit* b) {
    return first_rank(training, *a) < first_rank(training, *b);
  });

  int missing_gpus = 0;
  std::map<std::string, int> left;
  for (const auto& [type, gpus] : wanted) left[type] = std::max(0, gpus - count_of(base, type));
  for (const std::vector<const PlanUnit*>* source : {&present, &standby}) {
    for (const PlanUnit* member : *source) {
      if (!member->leaving && left[member->gpu_type] >= member->gpus) {
        left[member->gpu_type] -= member->gpus;
        chosen.push_back(member);
      } else if (source == &present) {
        unwanted.push_back(member);
      }
    }
  }
  for (const auto& [type, gpus] : left) missing_gpus += gpus;

  GenerationPlan plan;
  plan.complete = missing_gpus == 0;
  for (const PlanUnit* member : unwanted) {
    if (member->leaving || missing_gpus < member->gpus) continue;
    chosen.push_back(member);
    missing_gpus -= member->gpus;
  }
  const auto trains = [&](const PlanMember& worker) {
    return rank_in(training, worker.worker_id) >= 0;
  };
  const bool survivor = std::any_of(ready_base.begin(), ready_base.end(), trains) ||
                        std::any_of(chosen.begin(), chosen.end(), [&](const PlanUnit* m) {
                          return first_rank(training, *m) >= 0;
                        });
  if (!training.empty() && !survivor && !unwanted.empty()) {
    chosen.push_back(unwanted.front());
    plan.keeps_one_back = true;
  }

  std::vector<PlanMember> survivors, joiners;
  for (const PlanMember& worker : ready_base)
    (trains(worker) ? survivors : joiners).push_back(worker);
  std::vector<PlanMember> old_members;
  for (const PlanUnit* member : chosen) {
    for (const PlanMember& worker : member->workers)
      (trains(worker) ? old_members : joiners).push_back(worker);
  }
  std::stable_sort(old_members.begin(), old_members.end(),
                   [&](const PlanMember& a, const PlanMember& b) {
                     return rank_in(training, a.worker_id) < rank_in(training, b.worker_id);
                   });
  plan.members = survivors;
  plan.members.insert(plan.members.end(), old_members.begin(), old_members.end());
  plan.members.insert(plan.members.end(), joiners.begin(), joiners.end());
  plan.differs = ids(plan.members) != ids(training);
  return plan;
}

bool same_generation(const std::vector<PlanMember>& a, const std::vector<PlanMember>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const PlanMember& x, const PlanMember& y) { return x.worker_id == y.worker_id; });
}

double remaining_epoch_s(const Progress& progress, double since_report_s, double evaluation_s) {
  if (progress.samples_per_s <= 0 || progress.epoch_samples <= 0) return -1;
  const double left =
      double(progress.epoch_samples - progress.samples_consumed) / progress.samples_per_s;
  return std::max(0.0, left + evaluation_s - since_report_s);
}

double decision_lead_s(double startup_s) { return startup_s * 1.5 + 5; }

bool time_to_decide(int epoch, int epochs, double remaining_s, double startup_s) {
  return epoch < epochs && remaining_s >= 0 && remaining_s <= decision_lead_s(startup_s);
}

}  // namespace jabas
