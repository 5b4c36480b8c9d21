#include "allocator/simulator/sia_workload.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "allocator/csv_table.h"
#include "allocator/error.h"
#include "allocator/folder.h"

namespace jabas::sim {
namespace {

namespace fs = std::filesystem;

const std::string kPrefix = "validation-", kSuffix = ".csv";
constexpr std::int64_t kLargestBatch = 1'000'000'000;
// Runs of more steps at B_0 are taken for a mistake: they would be simulated for hours.
constexpr double kMostSteps = 1e9;

// 0: not the name of such a file.
std::int64_t batch_in(const std::string& file) {
  if (!file.starts_with(kPrefix) || !file.ends_with(kSuffix) ||
      file.size() <= kPrefix.size() + kSuffix.size())
    return 0;
  const char* first = file.data() + kPrefix.size();
  const char* last = file.data() + file.size() - kSuffix.size();
  std::int64_t batch = 0;
  const auto [end, error] = std::from_chars(first, last, batch);
  return error == std::errc{} && end == last && batch >= 1 && batch <= kLargestBatch ? batch : 0;
}

ProgressCurve read_curve(const fs::path& path, std::int64_t batch) {
  const CsvTable table = CsvTable::read(path.string());
  const std::size_t progress = table.column("progress"), iteration = table.column("iteration"),
                    metric = table.column("metric"), sqr = table.column("grad_sqr"),
                    var = table.column("grad_var");
  ProgressCurve curve{batch, {}};
  for (std::size_t r = 0; r < table.rows(); ++r) {
    curve.rows.push_back({table.number(r, progress, 0, kMostSteps),
                          table.number(r, iteration, 0, kMostSteps), table.number(r, metric),
                          table.number(r, sqr, 0), table.number(r, var, 0)});
  }
  return curve;
}

std::int64_t samples_of(const std::string& name, const ProgressCurve& smallest) {
  static const std::map<std::string, std::int64_t> known = {
      {"cifar10", 50'000}, {"imagenet", 1'281'167}, {"bert", 88'644}};
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  const double iterations = smallest.rows.empty() ? 1 : smallest.rows.front().iteration;
  return std::max<std::int64_t>(1, std::int64_t(iterations * double(smallest.batch)));
}

}  // namespace

Workload read_sia_workload(const std::string& directory, GainRule rule) {
  fs::path folder = fs::path(directory).lexically_normal();
  if (folder.filename().empty()) folder = folder.parent_path();
  std::vector<ProgressCurve> curves;
  for (const std::string& file : folder_entries(folder.string(), "the workload folder"))
    if (const std::int64_t batch = batch_in(file); batch > 0)
      curves.push_back(read_curve(folder / file, batch));
  if (curves.empty())
    throw InputError(directory + ": has no validation-BATCH.csv, the progress at fixed batches");
  std::sort(curves.begin(), curves.end(),
            [](const ProgressCurve& a, const ProgressCurve& b) { return a.batch < b.batch; });
  const std::string name = folder.filename().string();
  const std::int64_t samples = samples_of(name, curves.front());
  return Workload(name, std::move(curves), samples, rule);
}

const std::map<std::string, double>& sia_prices() {
  static const std::map<std::string, double> prices = {
      {"aws", 0.526}, {"rtx", 0.60}, {"dgx", 4.10}, {"quad", 1.25}, {"azure", 3.06}};
  return prices;
}

}  // namespace jabas::sim
