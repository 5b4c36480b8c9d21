#include "elastic_runner/slurm_tools.h"

#include <cstdio>

#include "elastic_runner/process.h"

namespace jabas {
namespace {
constexpr std::chrono::milliseconds kToolDeadline{5000};
}

LeadState ask_for_lead(const std::string& run) {
  const std::string lead = run.substr(0, run.find('.'));
  const ToolResult answer =
      run_tool({"squeue", "--noheader", "--jobs", lead, "--format", "%T"}, kToolDeadline);
  if (!answer.finished) return LeadState::kUnknown;
  // squeue knows a finished job for some minutes and prints nothing for it; later the id is an
  // error.
  if (answer.exit_code == 0 && answer.output.empty()) return LeadState::kGone;
  if (answer.exit_code == 0) {
    return answer.output.starts_with("RUNNING") || answer.output.starts_with("SUSPENDED") ||
                   answer.output.starts_with("CONFIGURING")
               ? LeadState::kPresent
               : LeadState::kGone;
  }
  // An unknown id and an unreachable controller both fail; only a listing without the id tells them
  // apart.
  const ToolResult all =
      run_tool({"squeue", "--noheader", "--me", "--format", "%A %T"}, kToolDeadline);
  if (!all.finished || all.exit_code != 0) return LeadState::kUnknown;
  return ("\n" + all.output).find("\n" + lead + " ") == std::string::npos ? LeadState::kGone
                                                                          : LeadState::kPresent;
}

void cancel_jobs_of_run(const std::string& run) {
  const std::string name = "jabas-" + run;
  const ToolResult result = run_tool({"scancel", "--me", "--name=" + name}, kToolDeadline);
  if (!result.finished || result.exit_code != 0) {
    std::fprintf(stderr,
                 "jabas-run: scancel --me --name=%s failed; jobs of this run may still be queued\n",
                 name.c_str());
  }
}

}  // namespace jabas
