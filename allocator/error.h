// The error kinds of the whole system and the exit codes of its programs (docs/errors.md).
//
// Expected outcomes are values with a reason and never come here. Broken input throws one of these types; its text is
// the single line the user sees: what, which value, what is accepted, what happens now. Our own bugs hit JABAS_ASSERT.
#pragma once

#include <stdexcept>
#include <string>

namespace jabas {

// Exit codes of jabas-run, jabasd and jabas-sim. jabasacct follows sacct: 0, or 1 for any error.
enum class ExitCode : int {
  kOk = 0,
  kFailed = 1,      // the work itself failed: training diverged, ledger broken, decision infeasible
  kUsage = 2,       // command line or option value
  kInput = 3,       // a file: data set, profile, prices, checkpoint, journal
  kDaemonLost = 4,  // the run's daemon is gone for good; a checkpoint was written where possible
  kNoResources = 5, // no GPU could be had (minimum not met, every request refused)
  kInternal = 70,   // a bug; JABAS_ASSERT aborts instead
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// Bad command line or option value.
struct UsageError : Error {
  explicit UsageError(const std::string& text) : Error(ExitCode::kUsage, text) {}
};
// Bad content of a file; the text names file, key and value.
struct InputError : Error {
  explicit InputError(const std::string& text) : Error(ExitCode::kInput, text) {}
};
// A system call on a file failed; the text names the path and strerror.
struct IoError : Error {
  IoError(const std::string& what, const std::string& path, int error_number);
};
// A peer sent something this version cannot read.
struct ProtocolError : Error {
  explicit ProtocolError(const std::string& text) : Error(ExitCode::kFailed, text) {}
};

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line,
                                   const std::string& detail);

}  // namespace jabas

// Always compiled in; for our own invariants only, never for input.
#define JABAS_ASSERT(condition, detail) \
  ((condition) ? void(0) : ::jabas::assertion_failed(#condition, __FILE__, __LINE__, (detail)))
