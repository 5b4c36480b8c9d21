#include "elastic_runner/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "allocator/error.h"

extern char** environ;

namespace jabas {
namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Ours, without the names that `extra` sets.
std::vector<std::string> merged_environment(const std::vector<std::string>& extra) {
  std::vector<std::string> result = extra;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const auto& other : extra) replaced = replaced || other.starts_with(name);
    if (!replaced) result.push_back(text);
  }
  return result;
}

// Only async-signal-safe calls: other threads may have held locks at the fork.
[[noreturn]] void become(char* const* argv, char* const* envp, int inherited_fd, int stdout_fd,
                         pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (inherited_fd >= 0) ::fcntl(inherited_fd, F_SETFD, 0);
  if (stdout_fd >= 0) {
    const int null_fd = ::open("/dev/null", O_RDWR);
    ::dup2(null_fd, 0);
    ::dup2(stdout_fd, 1);
    ::dup2(null_fd, 2);
  }
  ::execvpe(argv[0], argv, envp);
  ::_exit(127);
}

pid_t fork_and_exec(const ChildOptions& options, int stdout_fd) {
  auto arguments = options.arguments;
  auto environment = merged_environment(options.environment);
  const auto argv = pointers(arguments), envp = pointers(environment);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw IoError("cannot start", options.arguments.front(), errno);
  if (child == 0) become(argv.data(), envp.data(), options.inherited_fd, stdout_fd, parent);
  return child;
}

}  // namespace

pid_t start_child(const ChildOptions& options) { return fork_and_exec(options, -1); }

ToolResult run_tool(const std::vector<std::string>& arguments, std::chrono::milliseconds deadline) {
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0)
    throw IoError("cannot make a pipe", arguments.front(), errno);
  const auto end = std::chrono::steady_clock::now() + deadline;
  const pid_t child = fork_and_exec({arguments, {}, -1}, pipe_fds[1]);
  ::close(pipe_fds[1]);
  ToolResult result;
  bool open = true;
  while (open) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd fd{pipe_fds[0], POLLIN, 0};
    if (left.count() <= 0 || ::poll(&fd, 1, int(left.count())) == 0) break;
    char block[4096];
    const ssize_t count = ::read(pipe_fds[0], block, sizeof block);
    if (count > 0) result.output.append(block, std::size_t(count));
    open = count > 0 || (count < 0 && errno == EINTR);
  }
  ::close(pipe_fds[0]);
  if (open) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.finished = !open && WIFEXITED(status) && WEXITSTATUS(status) != 127;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

std::string own_executable() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::string describe_status(int wait_status) {
  if (WIFEXITED(wait_status)) return "exit code " + std::to_string(WEXITSTATUS(wait_status));
  return "killed by signal " + std::to_string(WTERMSIG(wait_status)) + " (" +
         ::strsignal(WTERMSIG(wait_status)) + ")";
}

}  // namespace jabas
