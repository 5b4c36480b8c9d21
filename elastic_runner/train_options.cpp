#include "elastic_runner/train_options.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "allocator/error.h"
#include "elastic_runner/batch_options.h"
#include "elastic_runner/data_options.h"
#include "elastic_runner/lr_options.h"
#include "elastic_runner/model_catalogue.h"
#include "elastic_runner/model_file.h"
#include "elastic_runner/model_options.h"
#include "elastic_runner/optimizer_options.h"
#include "elastic_runner/option_checks.h"
#include "elastic_runner/split_table.h"

namespace jabas {
namespace {

// What CLI11 fills before the checks; empty text = not given.
struct Given {
  std::string local, vsw, accum, adaptive, profile, resume, state, betas;
};

std::vector<int> parse_workers(const std::string& text) {
  const auto workers = parse_whole_numbers(
      text, 1, 256,
      "--local=" + text +
          ": accepted is N or N,M,… with whole numbers in 1..256 (workers in each epoch)");
  return {workers.begin(), workers.end()};
}

std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

void declare(CLI::App& app, TrainingSpec& spec, Given& given) {
  app.add_option("--local", given.local,
                 "Run N workers on this machine without Slurm; N,M,… = workers in each epoch, the "
                 "last repeats");
  declare_model_options(app, spec);
  declare_data_options(app, spec);
  app.add_option("--epochs", spec.epochs, "Epochs to train")->capture_default_str();
  app.add_option("--local-batch", spec.local_batch, "Samples per virtual worker and step")
      ->capture_default_str();
  app.add_option("--virtual-workers", spec.virtual_workers, "Virtual workers of the whole run");
  app.add_option("--vsw", given.vsw, "Virtual stream workers V, per epoch (,) and worker (:)");
  app.add_option("--accum", given.accum,
                 "Accumulation steps beyond the first, per epoch (,) and worker (:)");
  app.add_option("--batch-min", spec.batch_min, "Smallest global batch");
  app.add_option("--batch-max", spec.batch_max, "Largest global batch");
  app.add_option("--batch-initial", spec.batch_initial,
                 "Global batch at the start (default: the smallest)");
  app.add_option("--batch-policy", spec.batch_policy, "similarity, goodput or paper")
      ->capture_default_str();
  app.add_option("--similarity-target", spec.similarity_target,
                 "Policies similarity and paper: wanted cosine between the gradients of two "
                 "halves, in (0, 1)");
  app.add_option("--adapt-every", spec.adapt_every, "Steps between adjustments of the batch")
      ->capture_default_str();
  app.add_option("--adapt-up", spec.adapt_up, "Policy paper: factor to grow")
      ->capture_default_str();
  app.add_option("--adapt-down", spec.adapt_down, "Policy paper: factor to shrink")
      ->capture_default_str();
  app.add_option("--adaptive", given.adaptive,
                 "on or off (default: on if --batch-max > --batch-min)");
  declare_optimizer_options(app, spec, given.betas);
  declare_lr_options(app, spec);
  app.add_option("--seed", spec.seed, "Seed of order, weights, dropout")->capture_default_str();
  app.add_option("--device", spec.device, "auto, cpu, cuda or emulated")->capture_default_str();
  app.add_option("--precision", spec.precision, "fp32 or fp64")->capture_default_str();
  app.add_option("--profile", given.profile,
                 "With --local: profile of this machine's GPUs (default: $JABAS_PROFILE)");
  app.add_option("--emulate", spec.emulate_profile,
                 "Profile whose step times an emulated device takes");
  app.add_option("--emulate-scale", spec.emulate_scale, "Factor on the emulated times")
      ->capture_default_str();
  app.add_option("--state", given.state,
                 "With --local: folder for checkpoints (none = no checkpoints)");
  app.add_option("--keep-checkpoints", spec.keep_checkpoints, "Checkpoints to keep")
      ->capture_default_str();
  app.add_option("--resume", given.resume,
                 "Go on from the newest good checkpoint (of DIR, else of --state)")
      ->expected(0, 1);
  app.add_option("--ledger-out", spec.ledger_dir, "Folder for the record of every sample read");
  app.add_option("--metrics-out", spec.metrics_file, "File for metrics, one JSON object per line");
  app.add_option("--export", spec.export_file, "File for the final weights (safetensors)");
}

void check_values(const TrainingSpec& spec) {
  require_one_of("--batch-policy", spec.batch_policy, {"paper", "similarity", "goodput"});
  require_one_of("--device", spec.device, {"auto", "cpu", "cuda", "emulated"});
  require_one_of("--precision", spec.precision, {"fp32", "fp64"});
  require(
      spec.device != "cuda",
      "--device=cuda: this jabas-run was built without CUDA; accepted are auto, cpu and emulated");
  require_range("--epochs", spec.epochs, 1, 1e6, "a whole number in 1..1000000");
  require_range("--local-batch", double(spec.local_batch), 1, 1e6, "a whole number in 1..1000000");
  require_range("--adapt-every", double(spec.adapt_every), 1, 1e9, "a whole number ≥ 1");
  require_range("--adapt-up", spec.adapt_up, 1, 10, "a number in 1..10");
  require_range("--adapt-down", spec.adapt_down, 0.1, 1, "a number in 0.1..1");
  require_range("--emulate-scale", spec.emulate_scale, 1e-6, 1e6, "a number in 0.000001..1000000");
  require_range("--keep-checkpoints", spec.keep_checkpoints, 1, 1e6, "a whole number ≥ 1");
  const ModelFacts* model = find_built_in_model(spec.model);
  require(model == nullptr || !model->batch_norm || spec.local_batch > 1,
          "--local-batch=1: model " + spec.model +
              " has BatchNorm, which needs at least 2 samples per virtual worker");
}

}  // namespace

TrainCommand parse_train_arguments(const std::vector<std::string>& arguments) {
  TrainCommand command;
  command.arguments = arguments;
  TrainingSpec& spec = command.spec;
  Given given;
  CLI::App app("Trains a model on a changing set of GPUs", "jabas-run train");
  app.allow_extras(false);
  declare(app, spec, given);
  parse_command_line(app, arguments);
  resolve_model(app, spec);
  check_values(spec);
  resolve_optimizer(app, given.betas, spec);
  check_lr_options(app, spec);

  command.local = app.count("--local") > 0;
  command.resume = app.count("--resume") > 0;
  spec.local_batch_fixed = app.count("--local-batch") > 0;
  if (command.local) spec.workers_per_epoch = parse_workers(given.local);
  if (app.count("--vsw") > 0) spec.vsw = parse_split_table("--vsw", given.vsw, 1);
  if (app.count("--accum") > 0) spec.accum = parse_split_table("--accum", given.accum, 0);
  require(command.local || given.state.empty(),
          "--state=" + given.state +
              ": only with --local; under Slurm checkpoints go to the run's state directory");
  require(command.local || given.profile.empty(),
          "--profile=" + given.profile +
              ": only with --local; under Slurm it is sbatch --jabas-profile=FILE");
  require(command.local || (spec.vsw.empty() && spec.accum.empty()),
          "--vsw, --accum: only with --local; under Slurm the solver decides");
  require(spec.device != "emulated" || !spec.emulate_profile.empty() || !command.local,
          "--device=emulated: needs --emulate FILE with a profile");
  require(spec.device == "emulated" || spec.emulate_profile.empty(),
          "--emulate=" + spec.emulate_profile + ": only with --device=emulated");

  command.profile = absolute(given.profile);
  spec.checkpoint_dir = absolute(given.state);
  spec.resume_dir = absolute(given.resume);
  if (command.local && command.resume && spec.resume_dir.empty()) {
    require(!spec.checkpoint_dir.empty(), "--resume: needs a directory, or --state DIR");
    spec.resume_dir = spec.checkpoint_dir;
  }
  if (is_torchscript_file(spec.model) || is_plugin_file(spec.model))
    spec.model = absolute(spec.model);
  if (is_plugin_file(spec.dataset)) spec.dataset = absolute(spec.dataset);
  for (auto* path : {&spec.data_dir, &spec.emulate_profile, &spec.ledger_dir, &spec.metrics_file,
                     &spec.export_file}) {
    *path = absolute(*path);
  }

  BatchOptions batch;
  batch.adaptive = given.adaptive;
  batch.similarity_target_given = app.count("--similarity-target") > 0;
  for (const char* name : {"--virtual-workers", "--batch-min", "--batch-max", "--batch-initial"}) {
    if (app.count(name) > 0) batch.given.insert(name);
  }
  resolve_batch(spec, batch);
  return command;
}

}  // namespace jabas
