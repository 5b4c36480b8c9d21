#include "spank_plugin/jabasd/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "allocator/error.h"

extern char** environ;

namespace jabas {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMaxInputBytes =
    60 * 1024;  // below the capacity of a pipe: written before the start
constexpr std::size_t kMaxOutputBytes = 16 * 1024 * 1024;

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw IoError("cannot make a pipe", "pipe2", errno);
  }
  ~Pipe() {
    close_read();
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_read() { close_one(&ends_[0]); }
  void close_write() { close_one(&ends_[1]); }

 private:
  static void close_one(int* fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
  std::array<int, 2> ends_ = {-1, -1};
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

int spawn(std::vector<std::string> argv, std::vector<std::string> environment, const Pipe& in,
          const Pipe& out, const Pipe& err, pid_t* pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in.read_end(), 0);
  posix_spawn_file_actions_adddup2(&files, out.write_end(), 1);
  posix_spawn_file_actions_adddup2(&files, err.write_end(), 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int rc = posix_spawnp(pid, argv[0].c_str(), &files, &attributes, pointers(argv).data(),
                              pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return rc;
}

// False at end of file.
bool read_some(int fd, std::string* text) {
  std::array<char, 65536> buffer;
  const ssize_t count = read(fd, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count > 0 && text->size() < kMaxOutputBytes) text->append(buffer.data(), std::size_t(count));
  return count > 0;
}

int milliseconds_left(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  return int(std::max<std::int64_t>(0, left.count()));
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& argv,
                          const std::map<std::string, std::string>& environment,
                          const std::string& input, std::chrono::milliseconds deadline) {
  JABAS_ASSERT(!argv.empty(), "no program given");
  JABAS_ASSERT(input.size() <= kMaxInputBytes, argv[0]);
  const Clock::time_point end = Clock::now() + deadline;
  ProcessResult result;
  Pipe in, out, err;
  if (!input.empty() &&
      write(in.write_end(), input.data(), input.size()) != ssize_t(input.size())) {
    result.start_error = std::string("cannot hand over its input: ") + std::strerror(errno);
    return result;
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  pid_t pid = -1;
  if (const int rc = spawn(argv, std::move(variables), in, out, err, &pid); rc != 0) {
    result.start_error = std::string("cannot run ") + argv[0] + ": " + std::strerror(rc);
    return result;
  }
  result.started = true;
  in.close_write();
  out.close_write();
  err.close_write();

  bool out_open = true, err_open = true;
  while (out_open || err_open) {
    std::array<pollfd, 2> fds = {pollfd{out_open ? out.read_end() : -1, POLLIN, 0},
                                 pollfd{err_open ? err.read_end() : -1, POLLIN, 0}};
    const int left = milliseconds_left(end);
    if (left == 0) break;
    if (poll(fds.data(), fds.size(), left) <= 0) continue;
    if (fds[0].revents != 0) out_open = read_some(out.read_end(), &result.out);
    if (fds[1].revents != 0) err_open = read_some(err.read_end(), &result.err);
  }
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (milliseconds_left(end) == 0) {
      result.timed_out = true;
      kill(-pid, SIGKILL);
      waitpid(pid, &status, 0);
      break;
    }
    poll(nullptr, 0, 2);  // its output is closed: it is about to exit
  }
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

std::string failure_text(const ProcessResult& result) {
  if (!result.started) return result.start_error;
  if (result.timed_out) return "no answer within its deadline";
  std::string text = result.signal != 0 ? "killed by signal " + std::to_string(result.signal)
                                        : "exit code " + std::to_string(result.exit_code);
  const std::string line = result.err.substr(0, result.err.find('\n'));
  return line.empty() ? text : text + ": " + line;
}

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    const std::size_t equals = variable.find('=');
    if (equals != std::string::npos) {
      result[variable.substr(0, equals)] = variable.substr(equals + 1);
    }
  }
  return result;
}

}  // namespace jabas
