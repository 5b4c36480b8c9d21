// The choice of the next GPU set: one pure function of everything known at a decision (shared design "model" 6, 7).
// Used by jabasd, by `jabas-sim decide` and by the simulator: a second implementation is a bug.
//
// Units: seconds, US dollars (or whatever the price file counts) per GPU-hour, samples.
// Errors: decide() never throws for data; "nothing feasible" is action keep with the reason. state_from_json throws
//         InputError naming the key.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allocator/config_solver.h"
#include "allocator/gpu_set.h"
#include "allocator/profile.h"
#include "allocator/throughput_model.h"

namespace jabas {

struct Objective {
  enum class Kind { kTime, kCost, kBalanced, kValue, kDeadline, kBudget, kPaper };
  Kind kind = Kind::kTime;
  double eps = 0.05;      // time
  double alpha = 0.5;     // balanced
  double value_per_h = 0; // value
  double deadline_s = 0;  // deadline: of the whole run, from its start
  double budget = 0;      // budget: of the whole run
};
// "time", "time:0.1", "cost", "balanced:0.3", "value:4", "deadline:8h" (option_text.h: duration_s), "budget:20",
// "paper". Throws UsageError naming value and accepted range.
Objective parse_objective(const std::string& text);
std::string to_text(const Objective& objective);

// How the global batch of a candidate is found.
enum class BatchPolicy {
  kPaper,       // the forecast of the wanted batch (±10 % by similarity)
  kSimilarity,  // the same, wanted by the estimated similarity
  kGoodput,     // each set runs the (b, N) with the least time per progress at the forecast noise; while the noise is
                // unknown or the batch does not adapt: the wanted batch
};
std::string to_text(BatchPolicy policy);

struct TypeSupply {
  int min = 0, max = 0;        // of the user, effective
  int base = 0;                // GPUs of the lead, always part of the run
  int free = 0;                // what Slurm could give now beyond what is held (0 for a type pending for Resources)
  double wait_s = 0;           // expected queue wait of one more member
  double price_per_h = 0;      // per GPU
};

struct DecisionState {
  double now_s = 0;                      // UNIX seconds; only copied into the result
  bool start = false;                    // the first decision of a run: nothing is held, change costs nothing
  int next_epoch = 1, epochs = 1;        // the epoch that begins at the boundary; 1-based
  std::int64_t epoch_samples = 0;        // training samples per epoch
  double rest_progress = 0;              // what is left of the run, in steps at batch_min; 0 = the epochs left, each with
                                         // epoch_samples at the forecast batch
  double elapsed_s = 0, spent_cost = 0;  // of the run so far: deadline and budget are those of the whole run
  BatchPolicy batch_policy = BatchPolicy::kPaper;
  double wanted_batch = 0;               // at the last adjustment
  std::vector<std::pair<std::int64_t, double>> batch_history;  // (step, wanted B)
  std::int64_t adapt_every = 100;
  BatchRules batch;
  bool adaptive = false;
  double grad_sqr = 0, grad_var = 0;     // averaged |G|² and tr Σ at batch_min; 0 = unknown (progress = samples)
  std::vector<std::pair<std::int64_t, double>> noise_history;  // (step, grad_var / grad_sqr)
  GpuCounts held;                        // in the run now, or pending and still wanted
  std::map<std::string, TypeSupply> supply;  // by type; a type absent here cannot be used
  int unit = 1;                          // GPUs per member
  Objective objective;
  double hysteresis = 0.05;              // least predicted gain for a change
  int min_interval_epochs = 1;           // epochs between changes
  int epochs_since_change = 1000000;
  double epochs_per_stay = 0;            // mean of this run's stays; 0 = the rest of the run
  double resize_pause_s = 2;             // measured, or assumed
  double startup_s = 10;                 // of a member, measured or assumed
  double evaluation_s = 0;               // per epoch
  double minimum_billing_s = 0;
  Profile profile;                       // must have every type of `supply` that may be used
  ModelRules rules;                      // how times are predicted from it
};
DecisionState state_from_json(const std::string& text);
std::string to_json_text(const DecisionState& state);

struct CandidateResult {
  GpuCounts gpus;
  double next_epoch_s = 0, rest_s = 0, rest_cost = 0;  // with the cost of changing to it
  double score = 0;                                    // of the objective, smaller is better
  Configuration configuration;                         // at the forecast batch of the next epoch's start
  bool batch_clamped = false;
};

struct Decision {
  enum class Action { kStart, kKeep, kGrow, kShrink, kSwap };
  Action action = Action::kKeep;
  GpuCounts before, after;
  CandidateResult chosen, present;          // present.gpus empty when nothing is held
  std::vector<CandidateResult> best;        // up to ten, best first, the chosen one included
  std::map<std::string, int> rejected;      // cause -> number of candidates
  double forecast_batch = 0;
  std::string forecast_method;
  std::string reason;                       // one sentence
  std::string certificate;                  // how exactness was established
};
std::string to_text(Decision::Action action);
// The JSON object stored in the journal's decision record and printed by `jabas-sim decide --json`.
std::string to_json_text(const Decision& decision);

struct BatchForecast;  // batch_forecaster.h

Decision decide(const DecisionState& state);
// With a forecast of the caller's.
Decision decide(const DecisionState& state, const BatchForecast& forecast);

}  // namespace jabas
