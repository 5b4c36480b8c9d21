#include "elastic_runner/metrics.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "allocator/error.h"
#include "elastic_runner/process_memory.h"

namespace jabas {
namespace {

double part(std::int64_t correct, std::int64_t count) {
  return correct >= 0 && count > 0 ? double(correct) / double(count) : -1;
}

}  // namespace

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
  const StepTimes& times = outcome.times;
  line["data_s"] = times.data_s;
  line["forward_s"] = times.forward_s;
  line["backward_s"] = times.backward_s;
  line["exposed_all_reduce_s"] = times.exposed_all_reduce_s;
  line["optimizer_s"] = times.update_s;
  line["step_s"] = times.step_s;
  if (times.step_s > 0) line["samples_per_s"] = double(outcome.samples) / times.step_s;
  line["time"] =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  line["resident_bytes"] = static_cast<std::int64_t>(resident_bytes());
  write_line(line.dump());
}

void Metrics::epoch(int epoch, const Evaluation& evaluation) {
  if (fd_ < 0) return;
  const double loss = evaluation.count > 0 ? evaluation.loss_sum / double(evaluation.count) : -1;
  nlohmann::ordered_json line{{"epoch", epoch},
                              {"test_accuracy", part(evaluation.correct, evaluation.count)}};
  if (evaluation.count_top5 > 0)
    line["test_top5_accuracy"] = part(evaluation.correct_top5, evaluation.count_top5);
  line["test_loss"] = loss;
  if (evaluation.is_text && evaluation.count > 0) line["test_perplexity"] = std::exp(loss);
  write_line(line.dump());
}

void Metrics::write_line(const std::string& line) {
  const std::string whole = line + "\n";
  if (::write(fd_, whole.data(), whole.size()) == ssize_t(whole.size()) || failed_) return;
  failed_ = true;
  std::fprintf(stderr, "jabas-run: cannot write metrics: %s: %s; the training goes on without\n",
               path_.c_str(), std::strerror(errno));
}

}  // namespace jabas
