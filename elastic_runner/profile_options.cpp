#include "elastic_runner/profile_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "allocator/profile.h"
#include "elastic_runner/option_checks.h"
#include "elastic_runner/train_options.h"

namespace jabas {
namespace {

std::vector<std::int64_t> parse_batches(const std::string& text) {
  auto batches =
      parse_whole_numbers(text, 1, kMaxLocalBatch,
                          "--batches=" + text + ": accepted is N,M,… with whole numbers in 1.." +
                              std::to_string(kMaxLocalBatch));
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

}  // namespace

ProfileCommand parse_profile_arguments(const std::vector<std::string>& arguments) {
  ProfileCommand command;
  std::string batches;
  CLI::App app("Measures this GPU for a model and writes a profile (docs/profile.md)",
               "jabas-run profile");
  app.footer("Also the options of `jabas-run train` for model, data, precision and optimizer.");
  app.allow_extras();
  app.add_option("--gpu-type", command.gpu_type, "GRES type of this GPU, as Slurm spells it");
  app.add_option(
      "--batches", batches,
      "Local batches N,M,… (default: --local-batch, and a quarter to eight times of it)");
  app.add_option("--max-streams", command.max_streams, "Most concurrent streams to measure")
      ->capture_default_str();
  app.add_option("--steps", command.repeats, "Passes of each point; their median counts")
      ->capture_default_str();
  app.add_option("--gpus-per-node", command.gpus_per_node, "GPUs of this type in one node")
      ->capture_default_str();
  app.add_option("-o,--output", command.output, "The profile; - prints it");
  parse_command_line(app, arguments);
  require(!command.gpu_type.empty(),
          "--gpu-type: is missing; accepted is the GRES type of this GPU, as Slurm spells it");
  require(!command.output.empty(), "-o: is missing; accepted is a file, or - to print the profile");
  require_range("--max-streams", command.max_streams, 1, kMaxStreams,
                "a whole number in 1.." + std::to_string(kMaxStreams));
  require_range("--steps", command.repeats, 1, 10000, "a whole number in 1..10000");
  require_range("--gpus-per-node", command.gpus_per_node, 1, kMaxGpusPerNode,
                "a whole number in 1.." + std::to_string(kMaxGpusPerNode));
  if (!batches.empty()) command.batches = parse_batches(batches);
  // All that names the training is train's; one worker on this machine measures.
  std::vector<std::string> rest = app.remaining();
  rest.insert(rest.begin(), {"--local", "1"});
  command.spec = parse_train_arguments(rest).spec;
  require(command.spec.device != "emulated",
          "--device=emulated: an emulated GPU has its profile already; accepted are auto, cpu and "
          "cuda");
  return command;
}

}  // namespace jabas
