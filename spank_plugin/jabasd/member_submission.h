// How a member job is asked for: sbatch's arguments, environment and script. Pure text.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "spank_plugin/jabasd/slurm_client.h"

namespace jabas {

// What all member jobs of one run have in common.
struct MemberTemplate {
  std::string job_name;  // "jabas-<lead>.<restart>"
  std::string lead;      // "<lead>.<restart>", the value of JABAS_MEMBER
  std::string run_dir, endpoint;
  std::string working_directory;                   // of the console
  std::string executable;                          // jabas-run as the console runs it
  std::map<std::string, std::string> environment;  // of the console; scrubbed again here
};

struct MemberNeed {
  int request = 0;
  std::string gpu_type;
  int gpus = 1;
  int cpus = 1;
  std::string memory;              // per node, "" = not asked for
  double time_left_s = -1;         // of the lead; -1 = no limit
  std::vector<std::string> extra;  // from --jabas-member, split into words
};

std::string member_job_name(long lead_job_id, int restart);
std::string member_comment(int request, const std::string& gpu_type);
// The request number in a comment; 0 when it is not one of ours.
int request_of_comment(const std::string& comment);

// A member needs at least one whole minute of the lead's time.
bool enough_time(const MemberNeed& need);

MemberSubmission member_submission(const MemberTemplate& run, const MemberNeed& need);

}  // namespace jabas
