#include "elastic_runner/ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "allocator/error.h"

namespace jabas {

Ledger::Ledger(const std::string& directory, const std::string& worker_id,
               std::int64_t train_samples)
    : path_(directory + "/ledger-" + worker_id + ".jsonl") {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw IoError("cannot create the ledger's folder", directory, error.value());
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) throw IoError("cannot open the ledger", path_, errno);
  // An earlier life may have been killed inside a line.
  char last = '\n';
  const off_t size = ::lseek(fd_, 0, SEEK_END);
  if (size > 0 && ::pread(fd_, &last, 1, size - 1) != 1)
    throw IoError("cannot read the ledger", path_, errno);
  const std::string header = nlohmann::json{
      {"ledger", kLedgerVersion},
      {"worker", worker_id},
      {"train_samples",
       train_samples}}.dump();
  write_line(last == '\n' ? header : "\n" + header);
}

Ledger::~Ledger() { ::close(fd_); }

void Ledger::begin_step(int generation, int epoch, std::int64_t step) {
  const std::lock_guard lock(mutex_);
  generation_ = generation;
  epoch_ = epoch;
  step_ = step;
}

void Ledger::record_read(std::int64_t virtual_worker, const std::vector<std::int64_t>& samples) {
  const std::lock_guard lock(mutex_);
  write_line(nlohmann::json{
      {"read", step_},
      {"epoch", epoch_},
      {"generation", generation_},
      {"virtual_worker", virtual_worker},
      {"samples",
       samples}}.dump());
}

void Ledger::commit() {
  const std::lock_guard lock(mutex_);
  write_line(
      nlohmann::json{{"committed", step_}, {"epoch", epoch_}, {"generation", generation_}}.dump());
}

void Ledger::write_line(std::string line) {
  line += '\n';
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(fd_, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw IoError("cannot write the ledger", path_, errno);
    written += std::size_t(count);
  }
}

}  // namespace jabas
