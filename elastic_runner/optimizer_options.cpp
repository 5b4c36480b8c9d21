#include "elastic_runner/optimizer_options.h"

#include <CLI/CLI.hpp>
#include <charconv>

#include "elastic_runner/option_checks.h"

namespace jabas {
namespace {

constexpr double kAdaptiveLr = 0.001;  // of adam, adamw and lamb
constexpr double kDecoupledDecay = 0.01;
constexpr double kLambEpsilon = 1e-6;

void parse_betas(const std::string& text, TrainingSpec& spec) {
  const std::string error =
      "--betas=" + text + ": accepted is B1,B2 with two numbers in 0..1, 1 excluded";
  const char *begin = text.data(), *end = begin + text.size();
  const auto first = std::from_chars(begin, end, spec.beta1);
  require(first.ec == std::errc() && first.ptr != end && *first.ptr == ',', error);
  const auto second = std::from_chars(first.ptr + 1, end, spec.beta2);
  require(second.ec == std::errc() && second.ptr == end, error);
  for (const double beta : {spec.beta1, spec.beta2}) require(beta >= 0 && beta < 1, error);
}

}  // namespace

void declare_optimizer_options(CLI::App& app, TrainingSpec& spec, std::string& betas) {
  app.add_option("--optimizer", spec.optimizer, "sgd, adam, adamw or lamb")->capture_default_str();
  app.add_option("--lr", spec.lr,
                 "Learning rate at the smallest batch (default: 0.02 with sgd, else 0.001)");
  app.add_option("--momentum", spec.momentum, "sgd: momentum")->capture_default_str();
  app.add_flag("--nesterov", spec.nesterov, "sgd: Nesterov's momentum");
  app.add_option("--betas", betas,
                 "adam, adamw, lamb: decay of the gradient's averages (default: 0.9,0.999)");
  app.add_option("--eps", spec.epsilon,
                 "adam, adamw, lamb: added to the denominator (default: 1e-8, with lamb 1e-6)");
  app.add_option("--weight-decay", spec.weight_decay,
                 "Weight decay, but not of norms and biases (default: 0 with sgd and adam, 0.01 "
                 "with adamw and lamb)");
  app.add_flag("--decay-all", spec.decay_all, "Weight decay also of norms and biases");
  app.add_option("--clip-norm", spec.clip_norm,
                 "Largest norm of a step's gradient; a longer one is scaled down (0 = no clipping)")
      ->capture_default_str();
}

void resolve_optimizer(const CLI::App& app, const std::string& betas, TrainingSpec& spec) {
  const auto given = [&](const char* name) { return app.count(name) > 0; };
  require_one_of("--optimizer", spec.optimizer, {"sgd", "adam", "adamw", "lamb"});
  const bool sgd = spec.optimizer == "sgd";
  for (const char* name : {"--momentum", "--nesterov"})
    require(sgd || !given(name), std::string(name) + ": only with --optimizer=sgd");
  for (const char* name : {"--betas", "--eps"})
    require(!sgd || !given(name),
            std::string(name) + ": only with --optimizer=adam, adamw and lamb");
  if (!sgd && !given("--lr")) spec.lr = kAdaptiveLr;
  if (spec.optimizer == "lamb" && !given("--eps")) spec.epsilon = kLambEpsilon;
  if ((spec.optimizer == "adamw" || spec.optimizer == "lamb") && !given("--weight-decay"))
    spec.weight_decay = kDecoupledDecay;
  if (given("--betas")) parse_betas(betas, spec);
  require_range("--lr", spec.lr, 0, 1e6, "a number ≥ 0");
  require_range("--momentum", spec.momentum, 0, 1, "a number in 0..1");
  require_range("--eps", spec.epsilon, 1e-30, 1, "a number in 1e-30..1");
  require_range("--weight-decay", spec.weight_decay, 0, 1e6, "a number ≥ 0");
  require_range("--clip-norm", spec.clip_norm, 0, 1e30, "a number ≥ 0 (0 = no clipping)");
  require(!spec.nesterov || spec.momentum > 0, "--nesterov: needs --momentum above 0");
}

}  // namespace jabas
