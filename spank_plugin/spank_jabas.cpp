// The SPANK plugin: registers the --jabas-* options with sbatch, and in the batch step of a job
// that uses them starts jabas-supervise. In every other step, and in slurmd itself, it does
// nothing.
//
// Threads: none; Slurm calls from one thread of each process.
// Errors:  no exception leaves an entry point, and every entry point but a refused option returns
// 0: an optional feature
//          never takes the user's job down. What goes wrong in the job is one line in the job's
//          output.
extern "C" {
#include <slurm/spank.h>

// SPANK_PLUGIN's constants would have internal linkage in C++ and stay invisible to Slurm.
#pragma GCC visibility push(default)
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;
#pragma GCC visibility pop
// The name is part of how options travel in the environment: never change it.
SPANK_PLUGIN(jabas, 1)
}

#include <pwd.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "spank_plugin/cluster_types.h"
#include "spank_plugin/launch.h"
#include "spank_plugin/options.h"

namespace {

using jabas::Options;

constexpr std::chrono::milliseconds kSinfoDeadline{5000};

// Of one process. Allocated once and never freed: the plugin must leave nothing behind for
// unloading.
struct State {
  Options options;
  bool any_option = false;
  bool types_asked = false;
  std::vector<std::string> types;
  std::string libexec;
  std::vector<struct spank_option> spank_options;  // Slurm copies them at registration
};
State& state() {
  static State* const only = new State;
  return *only;
}

template <class Body>
int guarded(const char* where, int on_exception, Body body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    slurm_error("jabas: %s: %s", where, error.what());
  } catch (...) {
    slurm_error("jabas: %s: unknown exception", where);
  }
  return on_exception;
}

const std::vector<std::string>& known_types() {
  if (!state().types_asked) {
    state().types_asked = true;
    const jabas::ClusterTypes answer = jabas::ask_cluster_types(kSinfoDeadline);
    state().types = answer.types;
    if (!answer.answered) {
      slurm_spank_log("jabas: sinfo gave no answer within 5 s: GPU types are not checked");
    }
  }
  return state().types;
}

std::string program_name() {
  std::ifstream file("/proc/self/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// On the submitting side. A non-zero result ends sbatch, whether the plugin is optional or not.
int check_option(const char* name, const char* value) {
  const std::string program = program_name();
  if (program == "srun" || program == "salloc") {
    if (std::getenv("SLURM_JOB_ID")) return 0;  // inside a job the option may be inherited
    slurm_error("--%s: only sbatch can start a JABAS job, %s cannot; nothing is started", name,
                program.c_str());
    return -1;
  }
  const bool has_types =
      std::strcmp(name, "jabas-gpus") == 0 || std::strcmp(name, "jabas-member") == 0;
  static const std::vector<std::string>* const none = new std::vector<std::string>;
  const std::string problem =
      jabas::parse_option(name, value, has_types ? known_types() : *none, true, &state().options);
  if (problem.empty()) return 0;
  slurm_error("%s; the job is not submitted", problem.c_str());
  return -1;
}

// On the node. sbatch has checked the value; files and types may look different from here.
void take_option(const char* name, const char* value) {
  const std::string problem = jabas::parse_option(name, value, {}, false, &state().options);
  if (!problem.empty()) slurm_spank_log("jabas: %s; the option is not used", problem.c_str());
  state().any_option = true;
}

int option_given(int index, const char* value, int remote) {
  return guarded("option", remote ? 0 : -1, [&] {
    const char* name = jabas::option_table().at(static_cast<std::size_t>(index)).name;
    if (!value) value = "";
    if (!remote) return check_option(name, value);
    take_option(name, value);
    return 0;
  });
}

void register_options(spank_t spank) {
  int index = 0;
  for (const jabas::OptionInfo& info : jabas::option_table()) {
    struct spank_option option = {};
    option.name = const_cast<char*>(info.name);
    option.arginfo = const_cast<char*>(info.argument);
    option.usage = const_cast<char*>(info.help);
    option.has_arg = 1;
    option.val = index++;
    option.cb = option_given;
    state().spank_options.push_back(option);
  }
  for (struct spank_option& option : state().spank_options) {
    if (spank_option_register(spank, &option) != ESPANK_SUCCESS) {
      slurm_error("jabas: option --%s cannot be registered", option.name);
    }
  }
}

bool is_batch_step(spank_t spank) {
  uint32_t step = 0;
  return spank_context() == S_CTX_REMOTE &&
         spank_get_item(spank, S_JOB_STEPID, &step) == ESPANK_SUCCESS && step == SLURM_BATCH_SCRIPT;
}

std::string job_variable(spank_t spank, const char* name, bool* found = nullptr) {
  std::vector<char> buffer(64 * 1024);
  const bool ok =
      spank_getenv(spank, name, buffer.data(), static_cast<int>(buffer.size())) == ESPANK_SUCCESS;
  if (found) *found = ok;
  return ok ? std::string(buffer.data()) : std::string();
}

// How Slurm spells an option in the environment.
std::string option_variable(const char* name) {
  std::string variable = "_SLURM_SPANK_OPTION_jabas_";
  for (const char* c = name; *c; ++c) variable += *c == '-' ? '_' : *c;
  return variable;
}

// --export=NONE drops the variable from which Slurm 22.05 calls the option callback, but not this
// copy.
void take_inherited_options(spank_t spank) {
  if (state().any_option) return;
  for (const jabas::OptionInfo& info : jabas::option_table()) {
    bool found = false;
    const std::string value =
        job_variable(spank, ("SLURM_SPANK_" + option_variable(info.name)).c_str(), &found);
    if (found) take_option(info.name, value.c_str());
  }
}

// Otherwise every srun and sbatch in the script would inherit the options, and a member job start a
// daemon of its own.
void remove_option_variables(spank_t spank) {
  for (const jabas::OptionInfo& info : jabas::option_table()) {
    const std::string variable = option_variable(info.name);
    spank_unsetenv(spank, variable.c_str());
    spank_unsetenv(spank, ("SLURM_SPANK_" + variable).c_str());
  }
}

// Of another run: jabasd marks its member jobs.
bool is_member(spank_t spank) {
  bool member = false;
  job_variable(spank, "JABAS_MEMBER", &member);
  return member;
}

std::string home_of(uid_t user) {
  passwd entry;
  passwd* found = nullptr;
  std::vector<char> buffer(16 * 1024);
  getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
  return found && found->pw_dir ? found->pw_dir : "";
}

// Says in the job's output why the script runs without JABAS.
void go_without(const std::string& problem) {
  slurm_spank_log("jabas: %s: the script runs without JABAS", problem.c_str());
}

// Returns the problem, "" if the calling process is now a child of the supervisor.
std::string launch(spank_t spank) {
  uid_t user = 0, real = 0, effective = 0, saved = 0;
  if (spank_get_item(spank, S_JOB_UID, &user) != ESPANK_SUCCESS) return "the job has no user";
  if (getresuid(&real, &effective, &saved) != 0 || real != user || effective != user ||
      saved != user) {
    return "the task does not run as the job's user";
  }
  char** environment = nullptr;
  const auto job_environment = [&] {
    return spank_get_item(spank, S_JOB_ENV, &environment) == ESPANK_SUCCESS;
  };
  if (!job_environment()) return "the job's environment cannot be read";
  jabas::LaunchPlan plan;
  std::string problem =
      plan_launch(state().options, state().libexec, environment, home_of(user), &plan);
  if (!problem.empty()) return problem;
  spank_setenv(spank, "JABAS_RUN_DIR", plan.run_dir.c_str(), 1);
  problem = job_environment() ? swap_with_supervisor(plan, environment)
                              : "the job's environment cannot be read";
  if (!problem.empty()) spank_unsetenv(spank, "JABAS_RUN_DIR");
  return problem;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int slurm_spank_init(spank_t spank, int argument_count, char* arguments[]) {
  if (spank_context() == S_CTX_SLURMD) return ESPANK_SUCCESS;
  return guarded("init", 0, [&] {
    for (int i = 0; i < argument_count; ++i) {
      const std::string argument = arguments[i];
      if (argument.starts_with("libexec=")) {
        state().libexec = argument.substr(std::strlen("libexec="));
      } else {
        slurm_error("jabas: plugstack.conf: '%s' is not known; accepted: libexec=DIR",
                    arguments[i]);
      }
    }
    register_options(spank);
    return 0;
  });
}

// As the user, in the process that is about to become the batch script.
int slurm_spank_task_init(spank_t spank, int, char*[]) {
  return guarded("task_init", 0, [&] {
    if (!is_batch_step(spank)) return 0;
    take_inherited_options(spank);
    remove_option_variables(spank);
    if (is_member(spank)) return 0;
    // A job submitted from a lead's script inherits the lead's; `jabas-run train` must not join
    // that run.
    spank_unsetenv(spank, "JABAS_RUN_DIR");
    if (state().any_option && !state().options.on)
      go_without("--jabas-* options need --jabas-gpus");
    if (!state().options.on) return 0;
    const std::string problem = launch(spank);
    if (!problem.empty()) go_without(problem);
    return 0;
  });
}

// As root, in slurmstepd. Under proctrack/linuxproc nothing else would end what a killed supervisor
// leaves behind.
int slurm_spank_task_exit(spank_t spank, int, char*[]) {
  return guarded("task_exit", 0, [&] {
    if (!is_batch_step(spank)) return 0;
    take_inherited_options(spank);
    pid_t task = 0;
    if (state().options.on && !is_member(spank) &&
        spank_get_item(spank, S_TASK_PID, &task) == ESPANK_SUCCESS && task > 1) {
      kill(-task, SIGKILL);
    }
    return 0;
  });
}

}  // extern "C"
#pragma GCC visibility pop
