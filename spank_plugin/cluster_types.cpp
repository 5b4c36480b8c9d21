#include "spank_plugin/cluster_types.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <set>

#include "spank_plugin/option_values.h"

extern char** environ;

namespace jabas {
namespace {

using Clock = std::chrono::steady_clock;

std::string sinfo_path() {
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  if (length <= 0 || length == sizeof self) return "sinfo";
  std::string path(self, static_cast<std::size_t>(length));
  path = path.substr(0, path.rfind('/')) + "/sinfo";
  return access(path.c_str(), X_OK) == 0 ? path : "sinfo";
}

// Starts sinfo with its output in a pipe; the end to read, or -1.
int start_sinfo(pid_t* child) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const std::string path = sinfo_path();
  char arguments[][8] = {"sinfo", "-h", "-a", "-o", "%G"};
  char* argv[] = {arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], nullptr};
  const int error = posix_spawnp(child, path.c_str(), &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error == 0) return ends[0];
  close(ends[0]);
  return -1;
}

// Reads to the end; false when the deadline passes first.
bool read_all(int fd, Clock::time_point deadline, std::string* text) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd wanted{fd, POLLIN, 0};
    const int ready = left > 0 ? poll(&wanted, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    char buffer[4096];
    const ssize_t length = read(fd, buffer, sizeof buffer);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return length == 0;
    text->append(buffer, static_cast<std::size_t>(length));
  }
}

}  // namespace

std::vector<std::string> gpu_types_of(std::string_view gres_lines) {
  std::set<std::string> types;
  for (std::string_view line : split(gres_lines, '\n')) {
    // Socket lists in brackets hold commas: "gpu:v100:2(S:0,2),gpu:p100:1".
    std::string plain;
    int depth = 0;
    for (const char c : line) {
      depth += c == '(' ? 1 : 0;
      if (depth == 0) plain += c;
      depth -= c == ')' ? 1 : 0;
    }
    for (const std::string_view gres : split(plain, ',')) {
      const auto fields = split(gres, ':');
      if (fields.size() >= 3 && fields[0] == "gpu") types.emplace(fields[1]);
    }
  }
  return {types.begin(), types.end()};
}

ClusterTypes ask_cluster_types(std::chrono::milliseconds deadline) {
  pid_t child = -1;
  const int fd = start_sinfo(&child);
  if (fd < 0) return {};
  std::string text;
  const bool complete = read_all(fd, Clock::now() + deadline, &text);
  close(fd);
  // After its output has ended there is nothing left that sinfo could be waiting for.
  if (!complete) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return {};
  }
  if (!complete || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return {};
  return {true, gpu_types_of(text)};
}

}  // namespace jabas
