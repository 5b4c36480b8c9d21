// jabas-sim decide --state S.json [--json] [--reference-rounding]: one decision (the state's keys:
// docs/profile.md). Exit code kFailed when nothing could be predicted.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "allocator/decision_reason.h"
#include "allocator/scaling_policy.h"
#include "allocator/sim_command.h"
#include "allocator/sim_profile.h"
#include "allocator/text_file.h"

namespace jabas::sim {
namespace {

std::string batch_text(const CandidateResult& result) {
  return std::to_string(result.configuration.local_batch) + "×" +
         std::to_string(result.configuration.virtual_workers) +
         (result.batch_clamped ? " (clamped)" : "");
}

void print_row(const std::string& mark, const std::string& gpus, const std::string& epoch,
               const std::string& rest, const std::string& cost, const std::string& batch) {
  // Widths in bytes: × has one more than it shows.
  const auto multiplied = [](const std::string& text) {
    int extra = 0;
    for (std::size_t at = 0; (at = text.find("×", at)) != std::string::npos; ++at) ++extra;
    return extra;
  };
  std::printf("%-2s%-*s %10s %10s %10s  %s\n", mark.c_str(), 28 + multiplied(gpus), gpus.c_str(),
              epoch.c_str(), rest.c_str(), cost.c_str(), batch.c_str());
}

void print_shares(const Decision& decision) {
  const auto& shares = decision.chosen.configuration.shares;
  if (shares.empty()) return;
  std::string text;
  std::size_t rank = 0;
  for (const auto& [type, count] : decision.chosen.gpus)
    for (int i = 0; i < count; ++i, ++rank)
      text += (text.empty() ? "" : ", ") + type + " V=" + std::to_string(shares[rank].streams) +
              " a=" + std::to_string(shares[rank].accum_steps);
  std::printf("Shares: %s; %.4g s a step\n", text.c_str(), decision.chosen.configuration.step_s);
}

void print_table(const Decision& decision) {
  std::printf("%s\n", decision.reason.c_str());
  std::printf("GPUs: %s -> %s; forecast batch %.6g (%s); %s\n", to_text(decision.before).c_str(),
              to_text(decision.after).c_str(), decision.forecast_batch,
              decision.forecast_method.c_str(), decision.certificate.c_str());
  print_shares(decision);
  if (!decision.best.empty()) print_row("", "Candidate", "Epoch", "Rest", "Cost", "Batch");
  for (const CandidateResult& result : decision.best)
    print_row(result.gpus == decision.after ? "*" : "", to_text(result.gpus),
              jabas::seconds_text(result.next_epoch_s), jabas::seconds_text(result.rest_s),
              jabas::cost_text(result.rest_cost), batch_text(result));
  for (const auto& [cause, count] : decision.rejected)
    std::printf("Rejected: %d: %s\n", count, cause.c_str());
}

ExitCode decide(const std::string& path, const ModelRules& rules, bool json) {
  DecisionState state = state_from_json(read_text_file(path, "the state"));
  state.rules = rules;
  print_warnings(state.profile);
  const Decision decision = jabas::decide(state);
  if (json)
    std::printf("%s\n", jabas::to_json_text(decision).c_str());
  else
    print_table(decision);
  return decision.best.empty() ? ExitCode::kFailed : ExitCode::kOk;
}

}  // namespace

void add_decide(CLI::App& app, Run& run) {
  struct Options {
    std::string state;
    ModelRules rules;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("decide", "One decision from a JSON state");
  command
      ->add_option("--state", options->state, "JSON file with everything the decision depends on")
      ->required();
  add_rule_options(*command, &options->rules);
  command->add_flag("--json", options->json, "Print the decision as the journal stores it");
  command->callback([options, &run] {
    run = [options] { return decide(options->state, options->rules, options->json); };
  });
}

}  // namespace jabas::sim
