// The messages between jabasd (or the local controller) and consoles and workers: types and their
// JSON form. Transport-free: ZeroMQ under Slurm, socket pairs under `train --local`.
// See docs/protocol.md.
//
// Every encoded message is one JSON object {"v":1,"type":"…","seq":n, …fields}. seq > 0 asks for an
// `ack`; daemon → worker messages are numbered per receiver and per daemon incarnation and sent
// again on `hello` until acknowledged.
// Units:  epochs count from 1; steps count from 1 over the whole run; samples_consumed counts
//         inside the current epoch.
// Errors: decode throws ProtocolError for text that is not such an object, an unknown type, or a
//         missing or bad field. Unknown fields are ignored.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "allocator/gpu_set.h"
#include "allocator/profile.h"
#include "allocator/training_spec.h"

namespace jabas {

constexpr int kProtocolVersion = 1;

// Seconds of work of one rank in one step, measured by the rank itself (backward without waits).
// Of all_reduce_s, which is the time in collectives, exposed_all_reduce_s is what the step waited
// for after its last backward had ended.
struct StepTimes {
  double data_s = 0, forward_s = 0, backward_s = 0, all_reduce_s = 0, update_s = 0, step_s = 0;
  double exposed_all_reduce_s = 0;
};

// A gradient bucket: its size, and seconds of its all-reduce as one rank saw it (0 = not measured).
struct BucketTime {
  double bytes = 0, all_reduce_s = 0;
};

// One decision about the batch, made by rank 0, in force from `step` on.
struct BatchDecision {
  std::int64_t step = 0;
  int epoch = 0;
  double wanted_batch = 0;
  std::int64_t global_batch = 0, local_batch = 0, virtual_workers = 0;
  double similarity = 0;  // φ; 0 when not measured
  // Averaged |G|² and tr Σ at the smallest batch; 0 when unknown.
  double grad_sqr = 0, grad_var = 0;
  std::string reason;
};

// ---- worker or console → daemon -------------------------------------------------------------
struct Hello {
  int protocol = kProtocolVersion;
  std::string role;  // "console" | "worker"
  // "<job id>.<local rank>" (local mode: "local.<n>"); "console.<pid>".
  std::string worker_id;
  std::string job_id;  // the Slurm job it runs in; "" in local mode
  std::string host, gpu_type, version, boot_id;
  int local_rank = 0;
  int generation_trained = 0;  // 0 = none yet
  int generation_prepared = 0, attempt_prepared = 0;
  bool built = false;
  int epoch = 0;
  std::int64_t samples_consumed = 0, last_committed_step = 0;
  // Console only:
  std::vector<std::string> arguments;  // of `train`, without the program name
  std::string working_directory, executable;
  std::map<std::string, std::string> environment;  // already scrubbed for members
  int base_workers = 0;  // GPUs of the lead the console will start workers for
  std::string base_gpu_type;
  TrainingSpec spec;
};
struct Ready {};  // standby and warm: libraries loaded, data opened, model built
struct Rendezvous {
  int generation = 0, attempt = 0, rank = 0;
  std::string blob;  // raw bytes
};
struct Built {
  int generation = 0, attempt = 0;
};
struct BuildFailed {
  int generation = 0, attempt = 0;
  std::string reason;
};
struct Switched {  // from rank 0 of the new generation, after its first step started
  int generation = 0, attempt = 0, epoch = 0;
  std::int64_t step = 0;
  double pause_s = 0;
};
struct SwitchFailed {  // from rank 0 of the old generation
  int generation = 0, attempt = 0;
  std::string reason;
};
struct TooLate {
  int generation = 0, attempt = 0;
};
struct Revoked {
  int generation = 0, attempt = 0;
};
struct Progress {  // from rank 0, about once a second
  int generation = 0, epoch = 0;
  std::int64_t step = 0, samples_consumed = 0, epoch_samples = 0, global_batch = 0;
  double loss = 0, samples_per_s = 0;
  StepTimes times;
  std::vector<BatchDecision> batch_decisions;               // made since the last progress
  std::int64_t emulated_steps = 0, emulation_overruns = 0;  // totals of the run, all ranks
};
struct EpochReport {  // from rank 0, after evaluation, before the switch
  int generation = 0, epoch = 0;
  std::int64_t steps = 0, samples = 0, last_step = 0, global_batch = 0;
  double loss = 0, test_accuracy = -1, train_s = 0, evaluation_s = 0;
  double wanted_batch = 0, grad_sqr = 0, grad_var = 0;
  std::int64_t emulated_steps = 0, emulation_overruns = 0;
};
// Every rank, for each stretch of steps with the same batch and split: medians of its own times, to
// correct the model per GPU type. An epoch's shorter last step and measuring steps are left out.
struct WorkerTimes {
  int generation = 0;
  std::string gpu_type;
  std::int64_t local_batch = 0;
  int streams = 0, accum_steps = 0;
  std::int64_t steps = 0;
  StepTimes median;
  std::vector<BucketTime> buckets;  // in the order they become ready
};
// Before `ready`, by a worker whose `welcome` asked for it: the speed of its GPU, measured apart
// from the training.
struct Calibration {
  std::string gpu_type;
  std::vector<ComputePoint> points;
  std::vector<BucketTime> buckets;  // sizes only
  double duration_s = 0;
};
struct Leaving {  // last message of a worker that goes on purpose
  std::string reason;
};
struct Finished {  // rank 0: the last epoch is done, files written
  double test_accuracy = -1;
  std::int64_t steps = 0;
};
struct Fault {
  int generation = 0;
  std::string what;
  int epoch = 0;
  std::int64_t samples_consumed = 0, last_committed_step = 0;
};
struct ConsoleBye {  // the console ends; the run is over
  int exit_code = 0;
};

// ---- daemon → worker or console -------------------------------------------------------------
struct Welcome {
  std::string incarnation;  // of the daemon; sequence numbers start again with a new one
  double lease_s = 40;      // silence after which a worker leaves
  TrainingSpec spec;
  std::string calibrate;  // the GPU type the worker is to be measured as; "" = not
};
struct PlanMember {
  std::string worker_id, gpu_type, host;
};
struct Prepare {
  int generation = 0, attempt = 0;
  std::vector<PlanMember> members;  // index = rank
  std::string profile_json;         // profile snapshot for the batch rules; "" = none
  bool first = false;               // generation 1 or a recovery: commit goes to every member
};
struct Peers {
  int generation = 0, attempt = 0;
  std::vector<std::string> blobs;  // by rank
};
struct Commit {
  int generation = 0, attempt = 0;
  std::string at;  // "now" (first) | "boundary"
};
struct Revoke {
  int generation = 0, attempt = 0;
};
struct Release {  // leave when not in a generation (standby no longer wanted)
  std::string reason;
};
struct Stop {
  int exit_code = 0;
  std::string reason;
};
struct Status {  // to the console, for its display
  Progress progress;
  GpuCounts gpus;
  double cost_usd = -1;  // -1 = no prices
  double eta_s = -1;
  std::string note;  // "" or one line to print ("waiting for 2 × v100: Resources")
};

// ---- both ways ------------------------------------------------------------------------------
struct Heartbeat {};
struct Ack {
  std::uint64_t acked = 0;
};

using Message = std::variant<Hello, Ready, Rendezvous, Built, BuildFailed, Switched, SwitchFailed,
                             TooLate, Revoked, Progress, EpochReport, WorkerTimes, Calibration,
                             Leaving, Finished, Fault, ConsoleBye, Welcome, Prepare, Peers, Commit,
                             Revoke, Release, Stop, Status, Heartbeat, Ack>;

struct Envelope {
  std::uint64_t seq = 0;  // 0 = needs no acknowledgement
  Message message;
};

std::string encode(const Envelope& envelope);
Envelope decode(const std::string& text);
// The wire name of the message's type: "hello", "epoch_report", …
std::string type_name(const Message& message);

}  // namespace jabas
