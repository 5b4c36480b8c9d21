#include <boost/test/unit_test.hpp>
#include <memory>

#include "elastic_runner/console_display.h"

using namespace jabas;

namespace {

Status status_at(std::int64_t step) {
  Status status;
  status.progress.epoch = 2;
  status.progress.step = step;
  status.progress.loss = 0.43125;
  status.progress.samples_per_s = 5120.4;
  status.progress.global_batch = 256;
  status.progress.samples_consumed = 500;
  status.progress.epoch_samples = 1000;
  return status;
}

struct Output {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), &std::fclose};
  std::string text() {
    std::string result;
    std::rewind(file.get());
    for (int c; (c = std::fgetc(file.get())) != EOF;) result += char(c);
    return result;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(console_display_tests)

BOOST_AUTO_TEST_CASE(line_shows_what_is_known) {
  Status status = status_at(437);
  BOOST_TEST(progress_text(status, 5) ==
             "epoch 2/5 · step 437 · loss 0.4313 · 5120 samples/s · B 256");
  status.gpus = {{"v100", 2}, {"p100", 1}};
  status.cost_usd = 0.0123;
  status.eta_s = 185;
  status.progress.emulated_steps = 400;
  status.progress.emulation_overruns = 3;
  BOOST_TEST(progress_text(status, 5) ==
             "epoch 2/5 · step 437 · loss 0.4313 · 5120 samples/s · B 256 · 1×p100 + 2×v100 · "
             "$0.0123 · 3m05s left · "
             "emulated (3 of 400 steps too slow)");
}

BOOST_AUTO_TEST_CASE(durations) {
  BOOST_TEST(duration_text(47.4) == "47s");
  BOOST_TEST(duration_text(185) == "3m05s");
  BOOST_TEST(duration_text(7800) == "2h10m");
}

BOOST_AUTO_TEST_CASE(plain_output_prints_a_line_every_few_seconds) {
  Output output;
  const auto begin = ConsoleDisplay::Clock::now();
  {
    ConsoleDisplay display(output.file.get(), false, 5);
    for (int ms = 0; ms <= 6000; ms += 500)
      display.show(status_at(1 + ms), begin + std::chrono::milliseconds(ms));
  }
  const std::string text = output.text();
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 3);
}

BOOST_AUTO_TEST_CASE(a_note_is_printed_once) {
  Output output;
  Status status;
  status.note = "waiting for 2 × v100: Resources";
  ConsoleDisplay display(output.file.get(), false, 5);
  for (int i = 0; i < 3; ++i) display.show(status, ConsoleDisplay::Clock::now());
  BOOST_TEST(output.text() == "waiting for 2 × v100: Resources\n");
}

BOOST_AUTO_TEST_CASE(a_terminal_gets_a_bar_that_lines_replace) {
  Output output;
  ConsoleDisplay display(output.file.get(), true, 5);
  display.show(status_at(9), ConsoleDisplay::Clock::now());
  display.print("epoch 2 ended");
  const std::string text = output.text();
  BOOST_TEST(text.find("\r\033[K[##########..........] epoch 2/5") == 0U);
  BOOST_TEST(text.ends_with("\r\033[Kepoch 2 ended\n"));
}

BOOST_AUTO_TEST_SUITE_END()
