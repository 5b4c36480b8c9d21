#include "spank_plugin/jabasd/slurm_cli_client.h"

#include <array>
#include <charconv>
#include <functional>
#include <string_view>

#include "allocator/error.h"
#include "spank_plugin/jabasd/slurm_text.h"
#include "spank_plugin/jabasd/subprocess.h"

namespace jabas {
namespace {

template <typename T>
Answer<T> read_answer(const std::string& command, const ProcessResult& result,
                      const std::function<T(const std::string&)>& parse) {
  if (!result.ok()) return {std::nullopt, command + ": " + failure_text(result)};
  try {
    return {parse(result.out), ""};
  } catch (const InputError& error) {
    return {std::nullopt, error.what()};
  }
}

}  // namespace

std::map<std::string, std::string> scrubbed(const std::map<std::string, std::string>& environment) {
  static constexpr std::array<std::string_view, 9> kPrefixes = {
      "SLURM_", "_SLURM_", "SLURMD_", "SBATCH_", "SRUN_", "SPANK_", "PMI", "ROCR_", "JABAS_"};
  static constexpr std::array<std::string_view, 2> kNames = {"CUDA_VISIBLE_DEVICES",
                                                             "GPU_DEVICE_ORDINAL"};
  std::map<std::string, std::string> kept;
  for (const auto& [name, value] : environment) {
    bool drop = false;
    for (const std::string_view prefix : kPrefixes) drop = drop || name.rfind(prefix, 0) == 0;
    for (const std::string_view word : kNames) drop = drop || name == word;
    if (!drop || name == "SLURM_CONF") kept.emplace(name, value);
  }
  return kept;
}

long parse_parsable_id(const std::string& text) {
  long id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool complete = end == text.data() + text.size() || *end == '\n' || *end == ';';
  return error == std::errc() && complete && id > 0 ? id : 0;
}

SlurmCliClient::SlurmCliClient(const std::map<std::string, std::string>& environment,
                               std::chrono::milliseconds query_deadline,
                               std::chrono::milliseconds submit_deadline)
    : environment_(scrubbed(environment)),
      query_deadline_(query_deadline),
      submit_deadline_(submit_deadline) {
  environment_["TZ"] = "UTC";
  environment_["SLURM_TIME_FORMAT"] = "standard";
  environment_["LC_ALL"] = "C";
}

SubmitOutcome SlurmCliClient::submit(const MemberSubmission& submission) {
  std::vector<std::string> argv = {"sbatch"};
  argv.insert(argv.end(), submission.arguments.begin(), submission.arguments.end());
  const ProcessResult result =
      run_process(argv, submission.environment, submission.script, submit_deadline_);
  SubmitOutcome outcome;
  if (result.ok()) {
    outcome.job_id = parse_parsable_id(result.out);
    if (outcome.job_id > 0) {
      outcome.kind = SubmitOutcome::Kind::kSubmitted;
      return outcome;
    }
    outcome.reason = "sbatch printed \"" + result.out.substr(0, 60) + "\" instead of a job id";
    return outcome;
  }
  outcome.reason = "sbatch: " + failure_text(result);
  // Only an exit code is an answer; a killed or silent sbatch may have submitted.
  const bool contact_lost =
      result.err.find("Unable to contact slurm controller") != std::string::npos ||
      result.err.find("Socket timed out") != std::string::npos;
  if (!result.started || (result.exit_code > 0 && !contact_lost)) {
    outcome.kind = SubmitOutcome::Kind::kRefused;
  }
  return outcome;
}

Answer<std::vector<JobRow>> SlurmCliClient::jobs_named(const std::string& job_name) {
  const ProcessResult result =
      run_process({"squeue", "--me", "-h", "-t", "all", "--name=" + job_name, "-O", kSqueueFormat},
                  environment_, "", query_deadline_);
  return read_answer<std::vector<JobRow>>("squeue", result, parse_squeue);
}

std::string SlurmCliClient::cancel_named(const std::string& job_name) {
  const ProcessResult result =
      run_process({"scancel", "--me", "--name=" + job_name}, environment_, "", query_deadline_);
  return result.ok() ? "" : "scancel: " + failure_text(result);
}

std::string SlurmCliClient::cancel_job(long job_id) {
  const ProcessResult result =
      run_process({"scancel", std::to_string(job_id)}, environment_, "", query_deadline_);
  const bool gone = result.err.find("Invalid job id") != std::string::npos;
  return result.ok() || gone ? "" : "scancel: " + failure_text(result);
}

Answer<std::vector<NodeRow>> SlurmCliClient::nodes() {
  const ProcessResult result =
      run_process({"sinfo", "-h", "-N", "-O", kSinfoFormat}, environment_, "", query_deadline_);
  return read_answer<std::vector<NodeRow>>("sinfo", result, parse_sinfo);
}

Answer<LeadInfo> SlurmCliClient::lead(long job_id) {
  const ProcessResult result =
      run_process({"scontrol", "-d", "-o", "show", "job", std::to_string(job_id)}, environment_, "",
                  query_deadline_);
  return read_answer<LeadInfo>("scontrol", result, parse_lead);
}

Answer<std::string> SlurmCliClient::controller() {
  const ProcessResult result =
      run_process({"scontrol", "show", "config"}, environment_, "", query_deadline_);
  Answer<std::string> answer = read_answer<std::string>("scontrol", result, controller_address);
  if (answer.value && answer.value->empty())
    return {std::nullopt, "scontrol show config names no SlurmctldHost"};
  return answer;
}

}  // namespace jabas
