#include "elastic_runner/console_display.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace jabas {
namespace {

constexpr std::chrono::seconds kLineInterval{3};
constexpr int kBarWidth = 20;

std::string number(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string bar(const Progress& progress) {
  const double part = progress.epoch_samples > 0
                          ? double(progress.samples_consumed) / double(progress.epoch_samples)
                          : 0;
  const int filled = std::clamp(int(std::lround(part * kBarWidth)), 0, kBarWidth);
  return "[" + std::string(std::size_t(filled), '#') +
         std::string(std::size_t(kBarWidth - filled), '.') + "] ";
}

// Cut to the terminal's width without breaking a UTF-8 character.
std::string fitted(const std::string& text, std::FILE* out) {
  winsize size{};
  const std::size_t width = ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 10
                                ? std::size_t(size.ws_col) - 1
                                : 200;
  std::size_t columns = 0, bytes = 0;
  for (; bytes < text.size(); ++bytes) {
    const bool continues = (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80;
    if (!continues && columns++ == width) break;
  }
  return text.substr(0, bytes);
}

}  // namespace

std::string duration_text(double seconds) {
  const auto total = std::int64_t(std::lround(seconds));
  char text[48];
  if (total < 60) {
    std::snprintf(text, sizeof text, "%llds", static_cast<long long>(total));
  } else if (total < 3600) {
    std::snprintf(text, sizeof text, "%lldm%02llds", static_cast<long long>(total / 60),
                  static_cast<long long>(total % 60));
  } else {
    std::snprintf(text, sizeof text, "%lldh%02lldm", static_cast<long long>(total / 3600),
                  static_cast<long long>(total % 3600 / 60));
  }
  return text;
}

std::string progress_text(const Status& status, int epochs) {
  const Progress& progress = status.progress;
  std::string text = "epoch " + std::to_string(progress.epoch) + "/" + std::to_string(epochs) +
                     " · step " + std::to_string(progress.step) + " · loss " +
                     number("%.4f", progress.loss) + " · " +
                     number("%.0f", progress.samples_per_s) + " samples/s · B " +
                     std::to_string(progress.global_batch);
  if (total(status.gpus) > 0) text += " · " + to_text(status.gpus);
  if (status.cost_usd >= 0) text += " · $" + number("%.4f", status.cost_usd);
  if (status.eta_s >= 0) text += " · " + duration_text(status.eta_s) + " left";
  if (progress.emulated_steps > 0) {
    text += " · emulated (" + std::to_string(progress.emulation_overruns) + " of " +
            std::to_string(progress.emulated_steps) + " steps too slow)";
  }
  return text;
}

ConsoleDisplay::ConsoleDisplay(std::FILE* out, bool terminal, int epochs)
    : out_(out), terminal_(terminal), epochs_(epochs) {}

ConsoleDisplay::~ConsoleDisplay() { clear_bar(); }

void ConsoleDisplay::clear_bar() {
  if (!bar_shown_) return;
  std::fputs("\r\033[K", out_);
  std::fflush(out_);
  bar_shown_ = false;
}

void ConsoleDisplay::print(const std::string& line) {
  clear_bar();
  std::fprintf(out_, "%s\n", line.c_str());
  std::fflush(out_);
}

void ConsoleDisplay::show(const Status& status, Clock::time_point now) {
  if (status.note != last_note_ && !status.note.empty()) print(status.note);
  last_note_ = status.note;
  if (status.progress.step == 0) return;
  const std::string text = progress_text(status, epochs_);
  if (terminal_) {
    std::fprintf(out_, "\r\033[K%s", fitted(bar(status.progress) + text, out_).c_str());
    std::fflush(out_);
    bar_shown_ = true;
  } else if (now >= next_line_ && text != last_line_) {
    print(text);
    last_line_ = text;
    next_line_ = now + kLineInterval;
  }
}

}  // namespace jabas
