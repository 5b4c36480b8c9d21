#include "allocator/report_text.h"

#include <cstdio>

namespace jabas {

std::string to_text(const EpochReport& report, int epochs) {
  char line[160];
  std::snprintf(line, sizeof line,
                "epoch %d/%d ended: loss %.4f, test accuracy %.4f, B %lld, %.1f s", report.epoch,
                epochs, report.loss, report.test_accuracy,
                static_cast<long long>(report.global_batch), report.train_s + report.evaluation_s);
  return line;
}

std::string resize_text(int epoch, const GpuCounts& before, const GpuCounts& after,
                        double pause_s) {
  char pause[32];
  std::snprintf(pause, sizeof pause, ", pause %.2f s", pause_s);
  return "epoch " + std::to_string(epoch) + ": " + to_text(before) + " → " + to_text(after) + pause;
}

}  // namespace jabas
