#include "spank_plugin/jabasd/member_submission.h"

#include <algorithm>
#include <charconv>

#include "allocator/error.h"
#include "spank_plugin/jabasd/slurm_cli_client.h"

namespace jabas {
namespace {

std::string quoted(const std::string& word) {
  std::string result = "'";
  for (const char c : word) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

long whole_minutes(double seconds) { return long(seconds / 60); }

}  // namespace

std::string member_job_name(long lead_job_id, int restart) {
  return "jabas-" + std::to_string(lead_job_id) + "." + std::to_string(restart);
}

std::string member_comment(int request, const std::string& gpu_type) {
  return "jabas:" + std::to_string(request) + ":" + gpu_type;
}

int request_of_comment(const std::string& comment) {
  static const std::string kPrefix = "jabas:";
  if (comment.rfind(kPrefix, 0) != 0) return 0;
  int request = 0;
  const char* begin = comment.data() + kPrefix.size();
  const auto [end, error] = std::from_chars(begin, comment.data() + comment.size(), request);
  return error == std::errc() && *end == ':' ? request : 0;
}

bool enough_time(const MemberNeed& need) {
  return need.time_left_s < 0 || whole_minutes(need.time_left_s) >= 1;
}

MemberSubmission member_submission(const MemberTemplate& run, const MemberNeed& need) {
  JABAS_ASSERT(enough_time(need), "a member job without time");
  MemberSubmission result;
  std::vector<std::string>& words = result.arguments;
  words = {"--parsable",
           "--job-name=" + run.job_name,
           "--comment=" + member_comment(need.request, need.gpu_type),
           "--gres=gpu:" + need.gpu_type + ":" + std::to_string(need.gpus),
           "-N1",
           "-n1",
           "--no-requeue",
           "--cpus-per-task=" + std::to_string(need.cpus)};
  const bool own_memory =
      std::any_of(need.extra.begin(), need.extra.end(),
                  [](const std::string& word) { return word.rfind("--mem", 0) == 0; });
  if (!need.memory.empty() && !own_memory) words.push_back("--mem=" + need.memory);
  if (need.time_left_s >= 0)
    words.push_back("--time=" + std::to_string(whole_minutes(need.time_left_s)));
  words.push_back("--chdir=" + run.working_directory);
  words.push_back("-o");
  words.push_back(run.run_dir + "/members/%j.log");
  words.insert(words.end(), need.extra.begin(), need.extra.end());

  result.environment = scrubbed(run.environment);
  result.environment["JABAS_MEMBER"] = run.lead;
  result.environment["JABAS_RUN_DIR"] = run.run_dir;
  result.environment["JABAS_ENDPOINT"] = run.endpoint;
  result.environment["JABAS_GPU_TYPE"] = need.gpu_type;
  result.environment["JABAS_REQUEST"] = std::to_string(need.request);
  result.script = "#!/bin/sh\nexec " + quoted(run.executable) + " join --workers " +
                  std::to_string(need.gpus) + "\n";
  return result;
}

}  // namespace jabas
