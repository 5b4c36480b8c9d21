#include "spank_plugin/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace jabas {
namespace {

constexpr int kExecDeadlineMs = 30000;

std::string problem_with(const std::string& path, int error_number) {
  return path + " cannot be executed: " + std::strerror(error_number);
}

// True if the parent could not become the supervisor: it then writes a byte; a successful exec
// closes the pipe.
bool parent_failed(int fd) {
  pollfd wanted{fd, POLLIN, 0};
  int ready;
  do {
    ready = poll(&wanted, 1, kExecDeadlineMs);
  } while (ready < 0 && errno == EINTR);
  char byte;
  return ready > 0 && read(fd, &byte, 1) == 1;
}

// In the script's process: it must not outlive the supervisor, which alone reports its end to
// Slurm.
void follow_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent died before the call above
}

std::vector<char*> pointers(std::vector<std::string>* words) {
  std::vector<char*> result;
  for (std::string& word : *words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

const char* find_variable(const char* const* environment, const char* name) {
  const std::size_t length = std::strlen(name);
  for (; environment && *environment; ++environment) {
    if (std::strncmp(*environment, name, length) == 0 && (*environment)[length] == '=') {
      return *environment + length + 1;
    }
  }
  return nullptr;
}

std::string plan_launch(Options options, const std::string& libexec, const char* const* environment,
                        const std::string& passwd_home, LaunchPlan* plan) {
  if (libexec.empty() || libexec[0] != '/') {
    return "plugstack.conf gives no absolute libexec= directory";
  }
  const auto variable = [&](const char* name) {
    const char* value = find_variable(environment, name);
    return std::string(value ? value : "");
  };
  const std::string job_id = variable("SLURM_JOB_ID");
  if (job_id.empty()) return "SLURM_JOB_ID is not set in the job's environment";

  std::string root = options.state_dir;
  if (root.empty()) {
    const std::string home = variable("HOME");
    root = home.empty() ? passwd_home : home;
    if (root.empty() || root[0] != '/') {
      return "the user has no home directory; give --jabas-state=DIR";
    }
    root += "/.jabas";
  }
  const std::string cluster = variable("SLURM_CLUSTER_NAME");
  plan->run_dir = root + "/" + (cluster.empty() ? "cluster" : cluster) + "/" + job_id;

  // Files were checked from where sbatch ran, which --chdir may have left.
  const std::string submit_dir = variable("SLURM_SUBMIT_DIR");
  for (std::string* file : {&options.prices, &options.profile}) {
    const bool relative = !file->empty() && file->front() != '/' && file->find("://") == file->npos;
    if (relative && !submit_dir.empty()) *file = submit_dir + "/" + *file;
  }
  plan->supervisor = {libexec + "/jabas-supervise", "--script-pid"};
  plan->daemon = {libexec + "/jabasd", "--run-dir", plan->run_dir};
  for (std::string& argument : to_arguments(options)) plan->daemon.push_back(std::move(argument));
  return "";
}

std::string swap_with_supervisor(const LaunchPlan& plan, char* const* environment) {
  const std::string& path = plan.supervisor.front();
  if (access(path.c_str(), X_OK) != 0) return problem_with(path, errno);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::string("pipe: ") + std::strerror(errno);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    const int error_number = errno;
    close(ends[0]);
    close(ends[1]);
    return std::string("fork: ") + std::strerror(error_number);
  }
  if (child == 0) {
    follow_parent(parent);
    close(ends[1]);
    if (parent_failed(ends[0])) _exit(0);
    close(ends[0]);
    return "";
  }
  close(ends[0]);
  std::vector<std::string> words = plan.supervisor;
  words.push_back(std::to_string(child));
  words.emplace_back("--");
  words.insert(words.end(), plan.daemon.begin(), plan.daemon.end());
  execve(path.c_str(), pointers(&words).data(), environment);
  const int error_number = errno;
  // The child ends at once on the byte, and after the kill in any case.
  const ssize_t written = write(ends[1], "x", 1);
  if (written != 1) kill(child, SIGKILL);
  close(ends[1]);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return problem_with(path, error_number);
}

}  // namespace jabas
