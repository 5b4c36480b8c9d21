// jabas-sim forecast --history H.csv --points P.csv [--method M] [-o OUT]: what a method would have
// forecast at points of past runs, and how far it was off (docs/forecast.md).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <tuple>

#include "allocator/csv_table.h"
#include "allocator/forecast_methods.h"
#include "allocator/option_text.h"
#include "allocator/sim_command.h"
#include "allocator/text_file.h"

namespace jabas::sim {
namespace {

constexpr std::int64_t kLargestStep = std::int64_t{1} << 53;
constexpr std::int64_t kLargestEpoch = 1'000'000'000;
constexpr double kLeastBatch = 1e-9, kLargestBatch = 1e15;

struct Options {
  std::string history, points, method = "default", output = "-";
  double batch_min = 1, batch_max = 0;
};

using RunName = std::pair<std::string, std::string>;  // trajectory, dataset

struct EpochRecord {
  BatchRecord record;
  std::int64_t epoch = 0;
  std::size_t row = 0;
};

std::map<RunName, std::vector<EpochRecord>> read_history(const CsvTable& table) {
  const std::size_t trajectory = table.column("trajectory"), dataset = table.column("dataset"),
                    epoch = table.column("epoch"), step = table.column("step"),
                    gbs = table.column("gbs");
  std::map<RunName, std::vector<EpochRecord>> runs;
  for (std::size_t row = 0; row < table.rows(); ++row)
    runs[{table.text(row, trajectory), table.text(row, dataset)}].push_back(
        {{table.integer(row, step, 0, kLargestStep),
          table.number(row, gbs, kLeastBatch, kLargestBatch)},
         table.integer(row, epoch, 0, kLargestEpoch),
         row});
  for (auto& [name, records] : runs) {
    std::sort(records.begin(), records.end(), [](const EpochRecord& a, const EpochRecord& b) {
      return std::tie(a.record.step, a.row) < std::tie(b.record.step, b.row);
    });
    for (std::size_t i = 1; i < records.size(); ++i) {
      const EpochRecord &before = records[i - 1], &at = records[i];
      if (at.record.step == before.record.step)
        table.fail(
            at.row, step,
            std::to_string(at.record.step) + " is there twice in trajectory '" + name.first + "'");
      if (at.epoch < before.epoch)
        table.fail(at.row, epoch,
                   std::to_string(at.epoch) + " comes after epoch " + std::to_string(before.epoch) +
                       " in trajectory '" + name.first + "'");
    }
  }
  return runs;
}

// What was known at the end of epoch `after`.
BatchHistory known_after(const std::vector<EpochRecord>& records, std::int64_t after) {
  BatchHistory history;
  std::int64_t last_epoch = 0;
  for (const EpochRecord& at : records)
    if (at.epoch <= after) last_epoch = at.epoch;
  for (const EpochRecord& at : records) {
    if (at.epoch > after) break;
    history.records.push_back(at.record);
    if (at.epoch < last_epoch) history.last_epoch_after = at.record.step;
  }
  return history;
}

// The points of one run after one epoch, which share what is known.
struct Question {
  BatchHistory history;
  std::vector<std::int64_t> steps;
  std::vector<std::size_t> rows;
};
using QuestionName = std::pair<RunName, std::int64_t>;

std::map<QuestionName, Question> read_points(
    const CsvTable& points, const std::map<RunName, std::vector<EpochRecord>>& runs,
    const std::string& history_name) {
  const std::size_t trajectory = points.column("trajectory"), dataset = points.column("dataset"),
                    after_epoch = points.column("after_epoch"),
                    x_pred_step = points.column("x_pred_step");
  std::map<QuestionName, Question> questions;
  for (std::size_t row = 0; row < points.rows(); ++row) {
    const RunName name{points.text(row, trajectory), points.text(row, dataset)};
    const auto run = runs.find(name);
    if (run == runs.end())
      points.fail(
          row, trajectory,
          "'" + name.first + "' with dataset '" + name.second + "' is not in " + history_name);
    const double epoch_samples = points.number(row, dataset, 1);
    const std::int64_t after = points.integer(row, after_epoch, 0, kLargestEpoch);
    const auto [at, is_new] = questions.try_emplace({name, after});
    Question& question = at->second;
    if (is_new) question.history = known_after(run->second, after);
    if (question.history.records.empty())
      points.fail(row, after_epoch,
                  std::to_string(after) + ": '" + name.first + "' has no record up to this epoch");
    const BatchRecord& last = question.history.records.back();
    question.history.horizon_steps = epoch_samples / last.batch;
    question.steps.push_back(points.integer(row, x_pred_step, 0, kLargestStep));
    question.rows.push_back(row);
    if (question.steps.back() <= last.step)
      points.fail(row, x_pred_step,
                  std::to_string(question.steps.back()) + " is not accepted: must be after step " +
                      std::to_string(last.step) + ", the last record up to epoch " +
                      std::to_string(after));
  }
  return questions;
}

struct Score {
  double error_sum = 0, last_error_sum = 0;
  int points = 0;
};

void print_row(const RunName& name, int points, double last, double own) {
  std::fprintf(stderr, "%-32s %-12s %7d %12.2f %12.2f\n", name.first.c_str(), name.second.c_str(),
               points, 100 * last, 100 * own);
}

void print_scores(const std::map<RunName, Score>& scores, const std::string& method) {
  std::fprintf(stderr, "%-32s %-12s %7s %12s %12s\n", "trajectory", "dataset", "points", "last, %",
               (method + ", %").c_str());
  double sum = 0, last_sum = 0;
  int points = 0;
  for (const auto& [name, score] : scores) {
    const double mape = score.error_sum / score.points, last = score.last_error_sum / score.points;
    print_row(name, score.points, last, mape);
    sum += mape;
    last_sum += last;
    points += score.points;
  }
  const double count = double(scores.size());
  print_row({"mean", ""}, points, last_sum / count, sum / count);
}

BatchBounds bounds_of(const Options& options) {
  BatchBounds bounds;
  bounds.min = options.batch_min;
  if (options.batch_max != 0) bounds.max = options.batch_max;
  if (!(bounds.min >= 1 && bounds.min <= bounds.max))
    throw UsageError("--batch-min " + shortest_text(bounds.min) + " --batch-max " +
                     shortest_text(bounds.max) + ": accepted are 1 <= MIN <= MAX");
  return bounds;
}

ExitCode run_forecast(const Options& options) {
  const ForecastMethod method = parse_forecast_method(options.method);
  const BatchBounds bounds = bounds_of(options);
  const auto runs = read_history(CsvTable::read(options.history));
  CsvTable points = CsvTable::read(options.points);
  const auto questions = read_points(points, runs, options.history);
  const std::size_t output = points.add_column("forecast");
  const bool scored = points.has("actual_gbs");
  const std::size_t actual_gbs = scored ? points.column("actual_gbs") : 0;

  std::map<RunName, Score> scores;
  for (const auto& [name, question] : questions) {
    const Forecast found = forecast(question.history, question.steps, bounds, method);
    for (std::size_t i = 0; i < question.rows.size(); ++i) {
      const std::size_t row = question.rows[i];
      points.set(row, output, found.batches[i]);
      if (!scored || points.text(row, actual_gbs).empty()) continue;  // not known yet
      const double actual = points.number(row, actual_gbs, kLeastBatch, kLargestBatch);
      Score& score = scores[name.first];
      score.error_sum += std::abs(found.batches[i] / actual - 1);
      score.last_error_sum +=
          std::abs(bounds.clip(question.history.records.back().batch) / actual - 1);
      ++score.points;
    }
  }
  write_text_file(options.output, points.to_text(), "the forecasts");
  if (!scores.empty()) print_scores(scores, options.method);
  return ExitCode::kOk;
}

}  // namespace

void add_forecast(CLI::App& app, Run& run) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "forecast", "Forecasts of the global batch at points of past runs, with their errors");
  command
      ->add_option("--history", options->history,
                   "CSV file with columns trajectory, dataset, epoch, step, gbs")
      ->required();
  command
      ->add_option("--points", options->points,
                   "CSV file with columns trajectory, dataset, after_epoch, x_pred_step; "
                   "actual_gbs if errors are wanted; others are kept")
      ->required();
  command->add_option("--method", options->method, "last, paper or default (default)");
  command->add_option("--batch-min", options->batch_min,
                      "Least batch; forecasts are clipped to it (1)");
  command->add_option("--batch-max", options->batch_max,
                      "Largest batch; forecasts are clipped to it (0: no limit)");
  command->add_option("-o,--output", options->output,
                      "Where the points go, with a last column forecast (-: standard output)");
  command->callback([options, &run] { run = [options] { return run_forecast(*options); }; });
}

}  // namespace jabas::sim
