// What this worker's loader really read, and which steps were committed: the evidence for "every
// sample exactly once".
//
// File <dir>/ledger-<worker id>.jsonl: JSON lines, one write() each, appended by every life of the
// worker. At the start of a worker process, before a step's all-reduce ends, after its update:
//   {"ledger":1,"worker":"local.0","train_samples":60000}
//   {"read":7,"epoch":1,"generation":2,"virtual_worker":3,"samples":[…]}
//   {"committed":7,"epoch":1,"generation":2}
//
// Ownership: one writer per file.
// Threads: record_read from several threads; begin_step and commit from one.
// Errors: IoError naming the path; a worker whose ledger cannot be written must not go on.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace jabas {

constexpr int kLedgerVersion = 1;

class Ledger {
 public:
  Ledger(const std::string& directory, const std::string& worker_id, std::int64_t train_samples);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  void begin_step(int generation, int epoch, std::int64_t step);
  void record_read(std::int64_t virtual_worker, const std::vector<std::int64_t>& samples);
  void commit();

 private:
  void write_line(std::string line);
  std::string path_;
  int fd_ = -1;
  std::mutex mutex_;  // guards the step below and keeps lines whole
  int generation_ = 0, epoch_ = 0;
  std::int64_t step_ = 0;
};

}  // namespace jabas
