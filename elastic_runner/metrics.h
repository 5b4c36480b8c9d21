// The metrics file: one JSON object per line, appended by the present rank 0; a line for every step
// and one for every epoch. Their keys: docs/training.md, "Metrics".
//
// Errors: IoError on opening; a later write error is reported once on stderr and the training goes
//         on.
#pragma once

#include <cstdint>
#include <string>

#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/run_state.h"

namespace jabas {

class Metrics {
 public:
  explicit Metrics(const std::string& path);  // "" = write nothing
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void step(const RunState& state, const StepOutcome& outcome, std::int64_t global_batch);
  // `evaluation`: the sums over all ranks.
  void epoch(int epoch, const Evaluation& evaluation);

 private:
  void write_line(const std::string& line);
  std::string path_;
  int fd_ = -1;
  bool failed_ = false;
};

}  // namespace jabas
