// SlurmClient over the command-line tools: the one interface that is stable over all releases in
// use.
//
// Every call is one process with a deadline and a scrubbed environment (no SLURM_*, SBATCH_*, … of
// the lead; SLURM_CONF is kept). Threads: stateless after construction.   Errors: as SlurmClient
// says.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "spank_plugin/jabasd/slurm_client.h"

namespace jabas {

class SlurmCliClient : public SlurmClient {
 public:
  // `environment` is that of the lead job; it is scrubbed here.
  explicit SlurmCliClient(const std::map<std::string, std::string>& environment,
                          std::chrono::milliseconds query_deadline = std::chrono::seconds(10),
                          std::chrono::milliseconds submit_deadline = std::chrono::seconds(30));

  SubmitOutcome submit(const MemberSubmission& submission) override;
  Answer<std::vector<JobRow>> jobs_named(const std::string& job_name) override;
  std::string cancel_named(const std::string& job_name) override;
  std::string cancel_job(long job_id) override;
  Answer<std::vector<NodeRow>> nodes() override;
  Answer<LeadInfo> lead(long job_id) override;
  // The address of slurmctld, for finding the interface toward it.
  Answer<std::string> controller();

 private:
  std::map<std::string, std::string> environment_;
  std::chrono::milliseconds query_deadline_, submit_deadline_;
};

// Without the variables by which a job's own allocation leaks into what is submitted from inside
// it. SLURM_CONF stays.
std::map<std::string, std::string> scrubbed(const std::map<std::string, std::string>& environment);

// "123" or "123;cluster" -> 123; 0 when it is neither.
long parse_parsable_id(const std::string& text);

}  // namespace jabas
