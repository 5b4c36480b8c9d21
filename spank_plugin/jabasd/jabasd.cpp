// jabasd: the daemon of one Slurm job. Started by jabas-supervise in the batch step, with the job's
// environment.
//   jabasd --run-dir DIR [--jabas-…=VALUE …]
// SIGTERM means drain: members are cancelled by name, the end is recorded, exit 0. Other catchable
// signals are ignored.
#include <pwd.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "allocator/error.h"
#include "spank_plugin/jabasd/control_address.h"
#include "spank_plugin/jabasd/daemon.h"
#include "spank_plugin/jabasd/slurm_cli_client.h"
#include "spank_plugin/jabasd/subprocess.h"

namespace {

using namespace jabas;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

long number_variable(const char* name, bool required) {
  const std::string text = variable(name);
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (!text.empty() && *end == '\0' && value >= 0) return value;
  if (text.empty() && !required) return 0;
  throw UsageError(std::string("jabasd: ") + name + "=\"" + text +
                   "\": expected a number; jabasd runs in the batch step of a Slurm job; ending");
}

// The option table is the plugin's; CLI11 hands over what it does not know itself.
DaemonConfig read_command_line(int argc, char** argv) {
  DaemonConfig config;
  CLI::App app("The daemon of one JABAS job; started by jabas-supervise.", "jabasd");
  app.add_option("--run-dir", config.run_dir, "state directory of this job")->required();
  app.allow_extras();
  app.footer(
      "Further arguments are the --jabas-* options of the job, as to_arguments() prints them.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::printf("%s", app.help().c_str());
    std::exit(0);
  } catch (const CLI::ParseError& error) {
    throw UsageError(std::string("jabasd: ") + error.what());
  }
  for (const std::string& argument : app.remaining()) {
    const std::size_t equals = argument.find('=');
    if (argument.rfind("--", 0) != 0 || equals == std::string::npos) {
      throw UsageError("jabasd: argument \"" + argument + "\": expected --jabas-NAME=VALUE");
    }
    const std::string error =
        parse_option(argument.substr(2, equals - 2), argument.substr(equals + 1), {},
                     /*check_files=*/false, &config.options);
    if (!error.empty()) throw UsageError("jabasd: " + error);
  }
  return config;
}

// Descriptor that becomes readable at SIGTERM. Must come before any thread is started, so that all
// inherit the mask.
int take_signals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    static constexpr std::array<int, 13> kLeft = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGABRT,
                                                  SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGTRAP,
                                                  SIGSYS,  SIGTERM, 0};
    bool left = signal >= 32;  // real-time signals: the C library's own and others' business
    for (const int one : kLeft) left = left || signal == one;
    if (!left) std::signal(signal, SIG_IGN);
  }
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, nullptr);
  const int fd = signalfd(-1, &term, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) throw IoError("cannot wait for signals", "signalfd", errno);
  return fd;
}

void open_log(const std::string& run_dir) {
  auto logger = spdlog::basic_logger_mt("jabasd", run_dir + "/jabasd.log");
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(logger);
}

void complete(DaemonConfig* config, SlurmCliClient& slurm) {
  std::array<char, 256> host = {};
  gethostname(host.data(), host.size() - 1);
  config->host = host.data();
  config->cluster =
      variable("SLURM_CLUSTER_NAME").empty() ? "cluster" : variable("SLURM_CLUSTER_NAME");
  const passwd* user = getpwuid(getuid());
  config->user = user != nullptr ? user->pw_name : std::to_string(getuid());
  config->lead_job_id = number_variable("SLURM_JOB_ID", true);
  config->restart = int(number_variable("SLURM_RESTART_COUNT", false));
  const std::string interface = variable("JABAS_INTERFACE");
  std::string controller;
  if (interface.empty()) {
    const Answer<std::string> answer = slurm.controller();
    if (answer.value) {
      controller = *answer.value;
    } else {
      spdlog::warn("slurmctld's address: {}", answer.problem);
    }
  }
  const ControlAddress address = control_address(interface, controller);
  config->bind_address = address.address;
  config->interface_note = address.note;
}

// A run elsewhere than under the default root is found there all the same.
void link_under_default_root(const DaemonConfig& config) {
  const char* home = std::getenv("HOME");
  const passwd* user = getpwuid(getuid());
  const std::string base = home != nullptr ? home : user != nullptr ? user->pw_dir : "";
  if (base.empty()) return;
  const std::string folder = base + "/.jabas/" + config.cluster;
  const std::string link = folder + "/" + std::to_string(config.lead_job_id);
  std::error_code problem;
  if (link == config.run_dir || std::filesystem::exists(std::filesystem::symlink_status(link)))
    return;
  try {
    make_private_directory(folder);
    std::filesystem::create_directory_symlink(std::filesystem::absolute(config.run_dir), link,
                                              problem);
  } catch (const IoError& error) {
    spdlog::warn("{}; jabasacct needs --state for this run", error.what());
    return;
  }
  if (problem)
    spdlog::warn("{}: {}; jabasacct needs --state for this run", link, problem.message());
}

int serve(DaemonConfig config, int stop_fd) {
  make_private_directory(config.run_dir);
  open_log(config.run_dir);
  const auto slurm = std::make_shared<SlurmCliClient>(process_environment());
  complete(&config, *slurm);
  link_under_default_root(config);
  const std::string job_name = member_job_name(config.lead_job_id, config.restart);
  try {
    Daemon daemon(std::move(config), slurm);
    daemon.run(stop_fd);
    return int(ExitCode::kOk);
  } catch (const std::exception& error) {
    // Whatever went wrong, no member job may outlive this.
    spdlog::critical("{}; members are cancelled", error.what());
    if (const std::string failure = slurm->cancel_named(job_name); !failure.empty())
      spdlog::critical("{}", failure);
    throw;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const DaemonConfig config = read_command_line(argc, argv);
    return serve(config, take_signals());
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return int(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "jabasd: %s\n", error.what());
    return int(ExitCode::kInternal);
  }
}
