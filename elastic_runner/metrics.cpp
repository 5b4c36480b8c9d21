#include "elastic_runner/metrics.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "allocator/error.h"

namespace jabas {

Metrics::Metrics(const std::string& path) : path_(path) {
  if (path_.empty()) return;
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) throw IoError("cannot open the metrics file", path_, errno);
}

Metrics::~Metrics() {
  if (fd_ >= 0) ::close(fd_);
}

void Metrics::step(const RunState& state, const StepOutcome& outcome, std::int64_t global_batch) {
  if (fd_ < 0) return;
  nlohmann::ordered_json line{{"step", state.step},
                              {"epoch", state.epoch},
                              {"generation", state.generation},
                              {"loss", outcome.loss},
                              {"global_batch", global_batch},
                              {"samples", state.samples_consumed},
                              {"learning_rate", outcome.learning_rate}};
  if (outcome.gradient_norm >= 0) line["gradient_norm"] = outcome.gradient_norm;
  write_line(line.dump());
}

void Metrics::epoch(int epoch, double test_accuracy, double test_loss) {
  if (fd_ < 0) return;
  write_line(nlohmann::ordered_json{
      {"epoch", epoch}, {"test_accuracy", test_accuracy}, {"test_loss", test_loss}}
                 .dump());
}

void Metrics::write_line(const std::string& line) {
  const std::string whole = line + "\n";
  if (::write(fd_, whole.data(), whole.size()) == ssize_t(whole.size()) || failed_) return;
  failed_ = true;
  std::fprintf(stderr, "jabas-run: cannot write metrics: %s: %s; the training goes on without\n",
               path_.c_str(), std::strerror(errno));
}

}  // namespace jabas
