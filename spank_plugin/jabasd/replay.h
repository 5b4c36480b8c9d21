// What a restarted daemon knows from the journal: numbers that must go on, the open run, its
// generation and members. Pure. Errors: InputError naming the record that lacks a key. Unknown
// record types and keys are ignored.
#pragma once

#include <string>
#include <vector>

#include "allocator/control_messages.h"
#include "allocator/gpu_set.h"
#include "spank_plugin/jabasd/member_jobs.h"
#include "spank_plugin/jabasd/run_profile.h"

namespace jabas {

struct ReplayedCommit {
  int generation = 0, attempt = 0;
  std::vector<PlanMember> members;
  bool first = false;
};

struct Replay {
  int last_run = 0;       // 0 = no `train` yet
  bool run_open = false;  // a train without an end, of this restart count
  std::vector<std::string> arguments;
  double started_s = 0;
  int port = 0;  // 0 = never bound
  int last_request = 0, last_generation = 0;
  int generation = 0;  // trains, as far as recorded; 0 = none
  std::vector<PlanMember> training;
  std::vector<ReplayedCommit> open_commit;  // none or one: committed, outcome unknown
  GpuCounts wanted;
  int epoch = 1;          // that trains now
  int decided_epoch = 0;  // the latest epoch a decision was made for
  std::vector<Calibration> calibrations;
  std::vector<CorrectionRecord> corrections;  // in order: the last one of a type counts
  std::vector<Member> members;  // that had not ended when last heard of, of this restart
};

Replay replay(const std::vector<std::string>& records, int restart);

}  // namespace jabas
