#include "allocator/acct_why.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <set>

#include "allocator/acct_fields.h"
#include "allocator/acct_table.h"
#include "allocator/acct_time.h"

namespace jabas::acct {
namespace {

constexpr int kBarWidth = 20;

bool same(const GpuCounts& a, const GpuCounts& b) { return normalized(a) == normalized(b); }

std::string set_text(const GpuCounts& gpus) {
  const std::string text = to_list(normalized(gpus));
  return text.empty() ? "none" : text;
}

// "12.0 % slower"; "" below what is worth a word.
std::string difference(double value, double reference, const char* more, const char* less) {
  if (!(reference > 0) || !(value > 0)) return "";
  const double percent = 100 * (value / reference - 1);
  if (std::abs(percent) < 0.05) return "";
  return number_text(std::abs(percent), 1) + " % " + (percent > 0 ? more : less);
}

// "" for what was not predicted.
std::string seconds(double value) {
  if (!(value > 0)) return "";
  return value < 600 ? number_text(value, value < 10 ? 2 : 1) + " s" : duration_text(value);
}

std::string share_text(const Configuration& configuration) {
  std::string text;
  for (const GpuShare& share : configuration.shares) {
    if (!text.empty()) text += " ";
    text += std::to_string(share.streams);
    if (share.accum_steps > 0) text += "x" + std::to_string(share.accum_steps + 1);
  }
  return text;
}

void print_facts(std::ostream& out, const DecisionEntry& entry) {
  const Decision& decision = entry.decision;
  const Configuration& planned = decision.chosen.configuration;
  const auto line = [&](const std::string& name, const std::string& text) {
    if (!text.empty()) out << "  " << name << std::string(13 - name.size(), ' ') << text << '\n';
  };
  line("Objective", entry.objective);
  std::string batch = "wanted " + number_text(entry.wanted_batch, 1) + ", forecast " +
                      number_text(decision.forecast_batch, 1);
  if (!decision.forecast_method.empty()) batch += " (" + decision.forecast_method + ")";
  line("Batch", batch);
  if (planned.virtual_workers > 0) {
    line("Planned", std::to_string(planned.local_batch * planned.virtual_workers) + " = " +
                        std::to_string(planned.local_batch) + " x " +
                        std::to_string(planned.virtual_workers) + " virtual workers, a step in " +
                        seconds(planned.step_s) +
                        (decision.chosen.batch_clamped ? ", batch clamped" : ""));
  }
  line("Workers/GPU", share_text(planned));
  line("GPUs free", set_text(entry.free));
  line("Prices", entry.prices.empty()
                     ? "none"
                     : prices_text(entry.prices) + " $/GPU-hour, from " + entry.prices_source);
  std::string epoch = decision.chosen.next_epoch_s > 0
                          ? "predicted " + seconds(decision.chosen.next_epoch_s)
                          : "not predicted";
  if (!entry.result) {
    line("Epoch", epoch + (entry.run_state == "running" ? "; not over yet" : "; never finished"));
    return;
  }
  const EpochResult& result = *entry.result;
  epoch += ", took " + seconds(result.duration_s);
  const std::string error =
      difference(result.duration_s, decision.chosen.next_epoch_s, "longer", "shorter");
  if (!error.empty()) epoch += " (" + error + ")";
  if (entry.switched) epoch += ", pause " + seconds(entry.switched->pause_s);
  if (result.cost_usd >= 0) epoch += ", cost $" + cost_cell(result.cost_usd);
  line("Epoch", epoch);
}

// The best ones, and the present set even if it is not among them.
std::vector<CandidateResult> shown(const Decision& decision) {
  std::vector<CandidateResult> candidates = decision.best;
  const auto add = [&](const CandidateResult& candidate) {
    const bool known = std::any_of(candidates.begin(), candidates.end(), [&](const auto& each) {
      return same(each.gpus, candidate.gpus);
    });
    if (!candidate.gpus.empty() && !known) candidates.push_back(candidate);
  };
  add(decision.chosen);
  add(decision.present);
  return candidates;
}

std::vector<std::string> candidate_row(const CandidateResult& candidate, const Decision& decision,
                                       double longest_s) {
  const Configuration& planned = candidate.configuration;
  const bool predicted = candidate.next_epoch_s > 0;
  const bool present =
      !decision.present.gpus.empty() && same(candidate.gpus, decision.present.gpus);
  std::string verdict = why_lost(candidate, decision);
  if (verdict.empty()) verdict = "chosen";
  if (present) verdict = "present, " + verdict;
  return {set_text(candidate.gpus),
          seconds(candidate.next_epoch_s),
          seconds(candidate.rest_s),
          predicted ? "$" + cost_cell(candidate.rest_cost) : "",
          predicted ? std::to_string(planned.local_batch * planned.virtual_workers) : "",
          predicted ? number_text(candidate.score, 4) : "",
          bar(candidate.next_epoch_s, longest_s, kBarWidth),
          verdict};
}

void print_candidates(std::ostream& out, const Decision& decision) {
  std::vector<FieldInfo> fields = {{"Candidate", -9}, {"Epoch", 5}, {"Rest", 4}, {"Cost", 4},
                                   {"GBS", 3},        {"Score", 5}, {"", -1},    {"Verdict", -7}};
  const std::vector<CandidateResult> candidates = shown(decision);
  double longest_s = 0;
  for (const auto& candidate : candidates) longest_s = std::max(longest_s, candidate.next_epoch_s);
  std::vector<std::vector<std::string>> rows;
  for (const auto& candidate : candidates) {
    rows.push_back(candidate_row(candidate, decision, longest_s));
  }
  std::vector<Column> columns;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    int widest = std::abs(fields[i].width);
    for (const auto& row : rows) widest = std::max(widest, static_cast<int>(display_width(row[i])));
    columns.push_back({i, fields[i].width < 0 ? -widest : widest});
  }
  const Table table(out, fields, columns, TableStyle::kFixed, "|");
  table.header();
  for (const auto& row : rows) table.row(row);
}

}  // namespace

std::string why_lost(const CandidateResult& candidate, const Decision& decision) {
  const CandidateResult& chosen = decision.chosen;
  if (same(candidate.gpus, chosen.gpus)) return "";
  std::string text = difference(candidate.rest_s, chosen.rest_s, "slower", "faster");
  const std::string cost = difference(candidate.rest_cost, chosen.rest_cost, "dearer", "cheaper");
  if (!cost.empty()) text += (text.empty() ? "" : ", ") + cost;
  if (candidate.batch_clamped) text += text.empty() ? "batch clamped" : ", batch clamped";
  const std::string score = difference(candidate.score, chosen.score, "worse", "better");
  if (!score.empty()) text += (text.empty() ? "score " : "; score ") + score;
  // A better score loses when the gain is below the threshold, or the last change too recent.
  if (candidate.score > 0 && candidate.score < chosen.score) text += ", but see the reason";
  return text.empty() ? "equal; ties keep the order" : text;
}

void print_why(std::ostream& out, const DecisionEntry& entry, const std::string& time_format) {
  const Decision& decision = entry.decision;
  out << "Job " << entry.key.job_id << " (" << entry.key.cluster << "), run " << entry.key.run
      << ", restart " << entry.key.restart << ": epoch " << entry.epoch;
  if (entry.epochs > 0) out << " of " << entry.epochs;
  out << ", decided " << time_text(entry.time_s, time_format) << '\n';
  out << set_text(decision.before) << " → " << set_text(decision.after) << '\n';
  out << decision.reason << "\n\n";
  print_facts(out, entry);
  out << '\n';
  print_candidates(out, decision);
  out << "\nEpoch: seconds of the next epoch; Rest and Cost: of all epochs left, with the "
         "change.\n";
  if (!decision.rejected.empty()) {
    out << "Rejected:";
    const char* separator = " ";
    for (const auto& [cause, count] : decision.rejected) {
      out << separator << count << " " << cause;
      separator = "; ";
    }
    out << '\n';
  }
  if (!decision.certificate.empty()) out << "Search: " << decision.certificate << '\n';
  for (const std::string& note : entry.notes) out << "Note: " << note << '\n';
  if (entry.emulated)
    out << "The GPUs of this run are emulated: times and costs are not of real GPUs.\n";
}

}  // namespace jabas::acct
