// Forecast errors on made-up families: a line each with the MAPE of last, paper and default, and
// the paired difference default − last with its standard error over the noise draws.
//   forecast_bench [DRAWS]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "tests/support/forecast_families.h"

int main(int argc, char** argv) {
  using namespace jabas;
  using namespace jabas::forecast_families;
  const int draws = argc > 1 ? std::max(2, std::atoi(argv[1])) : 20;
  constexpr std::uint64_t kSeed = 90'001;
  std::printf("%-16s %5s %5s %6s %5s %7s %7s %7s %8s %6s\n", "family", "from", "to", "length",
              "noise", "last", "paper", "default", "def-last", "s.e.");
  for (const char* family :
       {"linear", "geometric", "saturating", "stops linear", "stops geometric", "ramp and hover",
        "drifting walk", "constant", "walk", "gaussian walk", "zig-zag"})
    for (const auto& [from, to, length, records] :
         {std::tuple{200.0, 1500.0, 70.0, 12.0}, std::tuple{64.0, 2048.0, 150.0, 25.0},
          std::tuple{4000.0, 700.0, 90.0, 5.0}})
      for (const double noise : {0.02, 0.08}) {
        const Setting setting{.family = family,
                              .from = from,
                              .to = to,
                              .length = length,
                              .noise = noise,
                              .records_per_epoch = records};
        double last = 0, paper = 0, own = 0, squares = 0;
        for (int i = 0; i < draws; ++i) {
          const Run run = run_of(setting, kSeed + std::uint64_t(i));
          const BatchBounds bounds = bounds_of(setting);
          const double of_last = mape(run, ForecastMethod::kLast, bounds),
                       of_default = mape(run, ForecastMethod::kDefault, bounds);
          last += of_last / draws;
          own += of_default / draws;
          paper += mape(run, ForecastMethod::kPaper, bounds) / draws;
          squares += (of_default - of_last) * (of_default - of_last);
        }
        const double difference = own - last;
        const double error =
            std::sqrt(std::max(0.0, squares / draws - difference * difference) / (draws - 1));
        std::printf("%-16s %5.0f %5.0f %6.0f %5.2f %7.2f %7.2f %7.2f %+8.2f %6.2f\n", family, from,
                    to, length, noise, last, paper, own, difference, error);
      }
}
