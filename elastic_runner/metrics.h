// The metrics file: one JSON object per line, appended by the present rank 0. After every step
// (`samples` = consumed in the epoch) and after every epoch:
//   {"step","epoch","generation","loss","global_batch","samples","learning_rate"}, with --clip-norm
//   also "gradient_norm" (before clipping)
//   {"epoch","test_accuracy","test_loss"}: means over the test set's labels (images, or bytes of
//   text, whose perplexity is exp(test_loss))
//
// Errors: IoError on opening; a later write error is reported once on stderr and the training goes
//         on.
#pragma once

#include <cstdint>
#include <string>

#include "elastic_runner/run_state.h"

namespace jabas {

class Metrics {
 public:
  explicit Metrics(const std::string& path);  // "" = write nothing
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void step(const RunState& state, const StepOutcome& outcome, std::int64_t global_batch);
  void epoch(int epoch, double test_accuracy, double test_loss);

 private:
  void write_line(const std::string& line);
  std::string path_;
  int fd_ = -1;
  bool failed_ = false;
};

}  // namespace jabas
