// The daemon's records, typed: what each journal record says (docs/journal.md).
//
// Fits: the daemon appends here before it acts. Units: UNIX seconds.   Threads: one owner.
// Errors: a record that cannot be written is logged (once) and answered with false; training goes
// on if it can, but what needs a record first is then not done.
#pragma once

#include <string>
#include <vector>

#include "allocator/control_messages.h"
#include "allocator/cost_model.h"
#include "allocator/generation_coordinator.h"
#include "allocator/gpu_set.h"
#include "allocator/journal.h"
#include "allocator/scaling_policy.h"
#include "spank_plugin/jabasd/member_jobs.h"
#include "spank_plugin/jabasd/run_profile.h"

namespace jabas {

struct JobRecord {
  std::string cluster, user, host, incarnation;
  long job_id = 0;
  int port = 0, pid = 0;
  std::vector<std::string> options;
};

struct TrainRecord {
  Hello hello;
  TrainingSpec spec;
  GpuCounts base;
  PriceList prices;
  std::string profile_source;
};

struct DecisionRecord {
  int epoch = 1;  // the one that begins at the boundary
  Decision decision;
  std::string objective;
  GpuCounts free;
  PriceList prices;
  double wanted_batch = 0;
  bool emulated = false;
  std::vector<std::string> notes;  // about the profile
};

struct EpochRecord {
  EpochReport report;
  double duration_s = 0, cost_usd = -1, predicted_s = 0, forecast_batch = 0;
  GpuCounts gpus;
};

struct EndRecord {
  std::string state;  // completed | failed | cancelled | lost
  std::string reason;
  int epochs = 0;
  double cost_usd = -1, duration_s = 0, test_accuracy = -1;
  std::int64_t emulated_steps = 0, emulation_overruns = 0;
};

class RunJournal {
 public:
  RunJournal(const std::string& path, int restart) : writer_(path, restart) {}
  void set_run(int run) { writer_.set_run(run); }

  bool job(const JobRecord& record);
  bool train(const TrainRecord& record);
  bool decision(const DecisionRecord& record);
  bool request(const Member& member, const std::string& job_name);
  bool submitted(const Member& member);
  bool submit_failed(const Member& member);
  // `state`: pending | running | ready | released | ended | lost | cancelled.
  bool member(const Member& member, const std::string& state);
  bool prepare(const Prepare& prepare);
  bool commit(int generation, int attempt);
  bool switched(const GenerationEvent& event, const GpuCounts& before, const GpuCounts& after);
  bool switch_failed(const GenerationEvent& event);
  bool batch(const BatchDecision& decision);
  bool calibration(const Calibration& calibration);
  bool correction(const CorrectionRecord& correction);
  bool epoch(const EpochRecord& record);
  bool warning(const std::string& text);
  bool end(const EndRecord& record);

 private:
  bool append(const char* type, const std::string& fields_json);
  JournalWriter writer_;
  bool broken_ = false;
};

double unix_now_s();

}  // namespace jabas
