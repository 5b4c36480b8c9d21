// The decision log of one job: JSON lines, one record each, durable before a decision is acted on.
// File: <state>/<cluster>/<job id>/journal.jsonl; record types and keys: docs/journal.md.
// Every record carries "v":1, "type", "time" (UNIX seconds, UTC, fractional), "run" (which `train`
// of the script, from 1; 0 before the first) and "restart" (Slurm's restart count).
// Ownership: one writer per file (jabasd). Readers may read while it is written.
// Threads:   one writer object, one thread.
// Errors:    IoError on reading or writing; a torn last line is tolerated and reported; a broken
//            earlier line or another version is an InputError naming the line.
#pragma once

#include <string>
#include <vector>

namespace jabas {

constexpr int kJournalVersion = 1;

// Record type names; the keys of each are in docs/journal.md.
namespace record {
constexpr char kJob[] = "job";      // a daemon starts
constexpr char kTrain[] = "train";  // a console said hello
constexpr char kDecision[] = "decision";
constexpr char kRequest[] = "request";  // a member job is about to be submitted
constexpr char kSubmitted[] = "submitted";
constexpr char kSubmitFailed[] = "submit_failed";
constexpr char kMember[] = "member";  // a member job changed state
constexpr char kPrepare[] = "prepare";
constexpr char kCommit[] = "commit";
constexpr char kSwitched[] = "switched";
constexpr char kSwitchFailed[] = "switch_failed";
constexpr char kBatch[] = "batch";
constexpr char kCalibration[] = "calibration";  // a GPU type was measured
constexpr char kCorrection[] = "correction";    // measured against predicted times
constexpr char kEpoch[] = "epoch";
constexpr char kWarning[] = "warning";
constexpr char kEnd[] = "end";
}  // namespace record

class JournalWriter {
 public:
  // Opens for appending; a torn last line left by a crash is cut off first. Creates the file with
  // mode 0600.
  JournalWriter(std::string path, int restart);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  void set_run(int run) { run_ = run; }
  // Appends one record and fsyncs. `fields_json` is a JSON object with the record's own keys ("{}"
  // if none). After an IoError the file holds either the whole record or nothing of it.
  void append(double unix_time_s, const std::string& type, const std::string& fields_json);

 private:
  std::string path_;
  int fd_ = -1, restart_ = 0, run_ = 0;
};

struct JournalContent {
  std::vector<std::string> records;  // complete lines, in order
  bool torn_tail = false;            // the last line had no newline or did not parse
};
JournalContent read_journal(const std::string& path);

}  // namespace jabas
