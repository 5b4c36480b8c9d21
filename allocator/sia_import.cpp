#include "allocator/sia_import.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <string_view>

#include "allocator/error.h"
#include "allocator/folder.h"
#include "allocator/sia_import_fit.h"
#include "allocator/throughput_model.h"

namespace jabas {
namespace {

constexpr std::string_view kPrefix = "placements-", kSuffix = ".csv";

// The clusters of the publication. `name` is the one in the table of TFLOP/s.
struct Cluster {
  std::string_view cluster, gpu, name;
};
constexpr std::array<Cluster, 5> kClusters = {{
    {"aws", "Tesla T4", "t4"},
    {"rtx", "GeForce RTX 2080 Ti", "2080ti"},
    {"dgx", "A100-SXM4-40GB", "a100"},
    {"quad", "Quadro RTX 6000", "rtx6000"},
    {"azure", "Tesla V100-SXM2-32GB", "v100"},
}};

// The value that `share` of them do not exceed.
double quantile(std::vector<double> values, double share) {
  const std::size_t last = values.size() - 1;
  const auto at = values.begin() + std::ptrdiff_t(std::lround(share * double(last)));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void read_placement(const CsvTable& table, std::size_t row, std::size_t column, SiaStep* step) {
  const std::string& text = table.text(row, column);
  const bool digits =
      !text.empty() && text.size() <= std::size_t(kMaxGpusPerNode) &&
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '1' && c <= '9'; });
  if (!digits)
    table.fail(
        row, column,
        "'" + text.substr(0, 60) + "' is not accepted: must be one digit 1..9 per node, its GPUs");
  step->nodes = int(text.size());
  step->gpus = 0;
  for (const char c : text) {
    step->gpus += c - '0';
    step->largest_node = std::max(step->largest_node, c - '0');
  }
}

// What steps on several GPUs take beyond the computation, by local batch, inside or across nodes.
std::vector<ExposedSync> fit_sync(const std::vector<SiaStep>& steps,
                                  const std::map<std::int64_t, double>& compute_s, bool across) {
  std::map<std::int64_t, std::vector<SyncSample>> samples;
  for (const SiaStep& step : steps)
    if (step.gpus > 1 && (step.nodes > 1) == across)
      samples[step.local_batch].push_back(
          {step.gpus, step.nodes,
           std::max(0.0, step.step_s - compute_s.find(step.local_batch)->second), step.step_s});
  std::vector<ExposedSync> sync;
  for (const auto& [batch, of_batch] : samples) {
    sync.push_back(fit_exposed_sync(of_batch));
    sync.back().local_batch = batch;
  }
  return sync;
}

SiaFit judge(const std::string& file, const std::vector<SiaStep>& steps, const TypeProfile& type,
             const Profile& profile) {
  const TypeModel model(type, profile, {});
  std::vector<double> errors;
  for (const SiaStep& step : steps) {
    const AllReduceTimes sync = model.all_reduce(step.gpus, step.nodes, step.local_batch);
    const double predicted_s = model.step_s(step.local_batch, {1, 0}, sync);
    errors.push_back(std::abs(predicted_s / step.step_s - 1));
  }
  return {file, steps.size(), median(errors), quantile(errors, 0.9)};
}

void name_gpu(const std::string& cluster, TypeProfile* type) {
  for (const Cluster& known : kClusters)
    if (known.cluster == cluster) {
      type->gpu = known.gpu;
      type->tflops = builtin_tflops(std::string(known.name));
    }
}

}  // namespace

std::vector<SiaStep> read_sia_steps(const CsvTable& table) {
  const std::size_t placement = table.column("placement"), batch = table.column("local_bsz"),
                    step_time = table.column("step_time"), sync_time = table.column("sync_time");
  constexpr double kMinStepS = 1e-9, kMaxS = 1e4;
  std::vector<SiaStep> steps;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    SiaStep step;
    read_placement(table, row, placement, &step);
    step.local_batch = table.integer(row, batch, 1, kMaxLocalBatch);
    step.step_s = table.number(row, step_time, kMinStepS, kMaxS);
    step.sync_s = table.number(row, sync_time, 0, kMaxS);
    steps.push_back(step);
  }
  if (steps.empty()) throw InputError(table.name() + ": has no rows");
  return steps;
}

TypeProfile sia_type(const std::vector<SiaStep>& steps, const std::string& name) {
  JABAS_ASSERT(!steps.empty(), "a type has a measured step");
  TypeProfile type;
  std::map<std::int64_t, std::vector<double>> compute_of_rows;
  for (const SiaStep& step : steps) {
    compute_of_rows[step.local_batch].push_back(step.step_s - step.sync_s);
    type.gpus_per_node = std::max(type.gpus_per_node, step.largest_node);
  }
  std::map<std::int64_t, double> compute_s;
  double so_far_s = 0;
  for (auto& [batch, values] : compute_of_rows) {
    so_far_s = std::max(so_far_s, median(std::move(values)));
    if (so_far_s <= 0)
      throw InputError(name + ": sync_time: half of the rows with local_bsz " +
                       std::to_string(batch) + " have one that is not below their step_time");
    compute_s[batch] = so_far_s;
    ComputePoint point;
    point.local_batch = batch;
    point.backward_s = so_far_s;
    type.points.push_back(point);
    type.max_streams[batch] = 1;
  }
  type.sync_intra = fit_sync(steps, compute_s, /*across=*/false);
  type.sync_inter = fit_sync(steps, compute_s, /*across=*/true);
  return type;
}

SiaImport import_sia(const std::string& folder) {
  SiaImport import;
  const auto path = std::filesystem::path(folder).lexically_normal();
  import.profile.model = (path.has_filename() ? path : path.parent_path()).filename().string();
  import.profile.source = folder;
  for (const std::string& entry : folder_entries(folder, "the folder of placements")) {
    if (!entry.starts_with(kPrefix) || !entry.ends_with(kSuffix)) continue;
    if (entry.size() <= kPrefix.size() + kSuffix.size()) continue;
    const std::string cluster =
        entry.substr(kPrefix.size(), entry.size() - kPrefix.size() - kSuffix.size());
    const std::string file = folder + "/" + entry;
    const std::vector<SiaStep> steps = read_sia_steps(CsvTable::read(file));
    TypeProfile type = sia_type(steps, file);
    name_gpu(cluster, &type);
    import.fits.push_back(judge(file, steps, type, import.profile));
    import.profile.types[cluster] = std::move(type);
  }
  if (import.fits.empty())
    throw InputError(folder + ": has no file placements-CLUSTER.csv, such as placements-aws.csv");
  return import;
}

}  // namespace jabas
