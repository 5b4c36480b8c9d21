#include "elastic_runner/lr_options.h"

#include <CLI/CLI.hpp>

#include "elastic_runner/option_checks.h"

namespace jabas {

void declare_lr_options(CLI::App& app, TrainingSpec& spec) {
  app.add_option("--lr-scaling", spec.lr_scaling,
                 "How the learning rate follows an adaptive batch: sqrt, linear, adascale or none")
      ->capture_default_str();
  app.add_option("--lr-schedule", spec.lr_schedule, "constant, step, cosine or polynomial")
      ->capture_default_str();
  app.add_option("--warmup-epochs", spec.warmup_epochs,
                 "Epochs, also parts of one, in which the learning rate rises linearly from 0")
      ->capture_default_str();
  app.add_option("--lr-step-epochs", spec.lr_step_epochs,
                 "Schedule step: epochs between two falls");
  app.add_option("--lr-gamma", spec.lr_gamma, "Schedule step: factor of a fall")
      ->capture_default_str();
  app.add_option("--lr-power", spec.lr_power, "Schedule polynomial: power of what is left")
      ->capture_default_str();
  app.add_option("--lr-end", spec.lr_end,
                 "Schedules cosine and polynomial: factor at the end of the run")
      ->capture_default_str();
}

void check_lr_options(const CLI::App& app, const TrainingSpec& spec) {
  const std::string& schedule = spec.lr_schedule;
  require_one_of("--lr-scaling", spec.lr_scaling, {"sqrt", "linear", "adascale", "none"});
  require_one_of("--lr-schedule", schedule, {"constant", "step", "cosine", "polynomial"});
  const auto belongs = [&](const char* name, bool used, const char* schedules) {
    require(used || app.count(name) == 0,
            std::string(name) + ": only with --lr-schedule=" + schedules);
  };
  belongs("--lr-step-epochs", schedule == "step", "step");
  belongs("--lr-gamma", schedule == "step", "step");
  belongs("--lr-power", schedule == "polynomial", "polynomial");
  belongs("--lr-end", schedule == "cosine" || schedule == "polynomial", "cosine and polynomial");
  require(schedule != "step" || app.count("--lr-step-epochs") > 0,
          "--lr-schedule=step: needs --lr-step-epochs");
  if (schedule == "step")
    require_range("--lr-step-epochs", spec.lr_step_epochs, 1e-6, 1e6, "a number above 0");
  require_range("--warmup-epochs", spec.warmup_epochs, 0, spec.epochs,
                "a number in 0.." + std::to_string(spec.epochs) + " (--epochs)");
  require_range("--lr-gamma", spec.lr_gamma, 0, 1e6, "a number ≥ 0");
  require_range("--lr-power", spec.lr_power, 0, 100, "a number in 0..100");
  require_range("--lr-end", spec.lr_end, 0, 1e6, "a number ≥ 0");
}

}  // namespace jabas
