// jabas-supervise: the batch task of a JABAS job. Its child, the user's script, is already running
// when it starts; it runs jabasd beside it and reports the script's end to Slurm as if it were the
// script.
//
//   jabas-supervise --script-pid N -- PROGRAM ARGUMENT…
//
// - The daemon is started again when it ends with anything but exit code 0: at most 5 times in 10
// minutes.
// - TERM goes to the daemon (it means: drain) and, under proctrack/cgroup, to the script, which
// gets none from Slurm
//   there. HUP, INT, QUIT, USR1 and USR2 go to the script. Everything else that can be caught is
//   ignored.
// - When the script ends the daemon has 10 s to drain, then it is killed; then this program ends as
// the script did:
//   with its exit code or by its signal.
// Static and libc only: a missing library on a node must not take the script down.
// Threads: one. Times: CLOCK_MONOTONIC, milliseconds. Errors: one line on stderr, the job's output.
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace {

constexpr int64_t kWindowMs = 10 * 60 * 1000;
constexpr int kMaxRestarts = 5;         // within the window
constexpr int64_t kFirstDelayMs = 100;  // before the first restart; doubles with each further one
constexpr int64_t kDrainMs = 10 * 1000;
constexpr int64_t kIdleMs = 60 * 1000;
constexpr int kCannotExecute = 126;

struct Supervisor {
  pid_t script = 0;
  char** daemon_command = nullptr;
  pid_t daemon = 0;                     // 0 = not running
  int64_t start_at = 0;                 // when to start the daemon; -1 = never again
  int64_t restarts[kMaxRestarts] = {};  // times of the last ones, oldest first; 0 = none
  bool draining = false;                // TERM was sent: no further restart
  bool script_ended = false;
  int script_status = 0;  // as from waitpid
  int64_t kill_at = 0;    // when a draining daemon is killed, once the script has ended
};

int64_t now_ms() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1000000;
}

void say(const char* text) { fprintf(stderr, "jabas-supervise: %s\n", text); }

// Under proctrack/cgroup Slurm signals only the direct children of slurmstepd, and the job has a
// cgroup of its own.
bool in_job_cgroup() {
  const char* job = getenv("SLURM_JOB_ID");
  FILE* file = job ? fopen("/proc/self/cgroup", "re") : nullptr;
  if (!file) return false;
  char wanted[64];
  snprintf(wanted, sizeof wanted, "/job_%s/", job);
  char line[4096];
  bool found = false;
  while (!found && fgets(line, sizeof line, file)) found = strstr(line, wanted) != nullptr;
  fclose(file);
  return found;
}

[[noreturn]] void become_daemon(char** command, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the supervisor died before the call above
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(command[0], command);
  fprintf(stderr, "jabas-supervise: %s cannot be executed: %s; the script goes on without JABAS\n",
          command[0], strerror(errno));
  _exit(kCannotExecute);
}

void start_daemon(Supervisor* self) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) become_daemon(self->daemon_command, parent);
  self->start_at = -1;
  if (child < 0) {
    fprintf(stderr, "jabas-supervise: fork: %s; the script goes on without JABAS\n",
            strerror(errno));
    return;
  }
  self->daemon = child;
}

// Plans the next start, or gives up.
void plan_restart(Supervisor* self, int64_t now) {
  if (self->restarts[0] != 0 && now - self->restarts[0] < kWindowMs) {
    fprintf(stderr,
            "jabas-supervise: the daemon was started again %d times within 10 minutes and is not "
            "started any more; the script goes on\n",
            kMaxRestarts);
    return;
  }
  int recent = 1;  // with the one that is planned here
  for (const int64_t time : self->restarts) recent += time != 0 && now - time < kWindowMs ? 1 : 0;
  memmove(self->restarts, self->restarts + 1, sizeof self->restarts - sizeof self->restarts[0]);
  self->restarts[kMaxRestarts - 1] = now;
  self->start_at = now + (kFirstDelayMs << (recent - 1));
  fprintf(stderr, "jabas-supervise: starting the daemon again (%d of at most %d in 10 minutes)\n",
          recent, kMaxRestarts);
}

void daemon_ended(Supervisor* self, int status, int64_t now) {
  self->daemon = 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotExecute) return;
  if (self->draining && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) return;  // as asked
  if (WIFSIGNALED(status)) {
    fprintf(stderr, "jabas-supervise: the daemon was killed by signal %d\n", WTERMSIG(status));
  } else {
    fprintf(stderr, "jabas-supervise: the daemon ended with exit code %d\n", WEXITSTATUS(status));
  }
  if (!self->draining) plan_restart(self, now);
}

void drain(Supervisor* self) {
  self->draining = true;
  self->start_at = -1;
  if (self->daemon > 0) kill(self->daemon, SIGTERM);
}

void reap(Supervisor* self) {
  int status = 0;
  pid_t child;
  while ((child = waitpid(-1, &status, WNOHANG)) > 0) {
    const int64_t now = now_ms();
    if (child == self->daemon) {
      daemon_ended(self, status, now);
    } else if (child == self->script) {
      self->script_ended = true;
      self->script_status = status;
      self->kill_at = now + kDrainMs;
      drain(self);
    }
  }
}

void handle(Supervisor* self, int signal_number) {
  switch (signal_number) {
    case SIGCHLD:
      reap(self);
      break;
    case SIGTERM:
      drain(self);
      if (in_job_cgroup() && !self->script_ended) kill(self->script, SIGTERM);
      break;
    case SIGHUP:
    case SIGINT:
    case SIGQUIT:
    case SIGUSR1:
    case SIGUSR2:
      if (!self->script_ended) kill(self->script, signal_number);
      break;
    default:
      break;
  }
}

// Until the script has ended and the daemon is gone.
void run(Supervisor* self, const sigset_t* all) {
  while (!self->script_ended || self->daemon > 0) {
    int64_t now = now_ms();
    if (self->start_at >= 0 && now >= self->start_at) start_daemon(self);
    if (self->script_ended && now >= self->kill_at) {
      say("the daemon did not end within 10 s after the script and is killed");
      kill(self->daemon, SIGKILL);
      self->kill_at = now + kIdleMs;
    }
    int64_t wake = now + kIdleMs;
    if (self->start_at >= 0 && self->start_at < wake) wake = self->start_at;
    if (self->script_ended && self->kill_at < wake) wake = self->kill_at;
    const int64_t left = wake > now ? wake - now : 0;
    const timespec wait = {static_cast<time_t>(left / 1000),
                           static_cast<long>(left % 1000 * 1000000)};
    const int signal_number = sigtimedwait(all, nullptr, &wait);
    if (signal_number > 0) handle(self, signal_number);
  }
}

[[noreturn]] void end_like(int status) {
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  const rlimit no_core = {0, 0};  // the script has written its own
  setrlimit(RLIMIT_CORE, &no_core);
  signal(WTERMSIG(status), SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, WTERMSIG(status));
  raise(WTERMSIG(status));
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
  _exit(128 + WTERMSIG(status));
}

bool parse(int argc, char** argv, Supervisor* self) {
  if (argc < 5 || strcmp(argv[1], "--script-pid") != 0 || strcmp(argv[3], "--") != 0) return false;
  char* end = nullptr;
  const long pid = strtol(argv[2], &end, 10);
  if (*end != 0 || pid <= 1 || pid > INT32_MAX) return false;
  self->script = static_cast<pid_t>(pid);
  self->daemon_command = argv + 4;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Supervisor self;
  if (!parse(argc, argv, &self)) {
    say("usage: jabas-supervise --script-pid N -- PROGRAM [ARGUMENT...]");
    return 2;
  }
  // Blocked and waited for, never handled asynchronously. The daemon gets an empty mask; the script
  // has its own.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  signal(SIGCHLD, SIG_DFL);  // an inherited SIG_IGN would lose the script's status
  siginfo_t info;
  info.si_pid = 0;
  if (waitid(P_PID, static_cast<id_t>(self.script), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    fprintf(stderr, "jabas-supervise: --script-pid %d: not a child of this process\n",
            static_cast<int>(self.script));
    return 2;
  }
  reap(&self);
  run(&self, &all);
  end_like(self.script_status);
}
