#include "spank_plugin/jabasd/daemon.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <sstream>
#include <utility>

#include "allocator/error.h"

namespace jabas {
namespace {

constexpr std::chrono::milliseconds kTick{100};
constexpr int kBackgroundThreads = 2;

Replay read_replay(const std::string& path, int restart) {
  if (!std::filesystem::exists(path)) return {};
  return replay(read_journal(path).records, restart);
}

std::string profile_path(const Options& options) {
  if (!options.profile.empty()) return options.profile;
  const char* value = std::getenv("JABAS_PROFILE");
  return value != nullptr ? value : "";
}

std::string make_incarnation() {
  std::ostringstream text;
  text << getpid() << "-" << std::chrono::system_clock::now().time_since_epoch().count();
  return text.str();
}

template <typename T>
std::string text_of(const T& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

double steady_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_readable(int fd) {
  pollfd item = {fd, POLLIN, 0};
  return poll(&item, 1, 0) > 0;
}

}  // namespace

Daemon::Daemon(DaemonConfig config, std::shared_ptr<SlurmClient> slurm)
    : config_(std::move(config)),
      lead_(std::to_string(config_.lead_job_id) + "." + std::to_string(config_.restart)),
      replay_(read_replay(config_.run_dir + "/journal.jsonl", config_.restart)),
      journal_(config_.run_dir + "/journal.jsonl", config_.restart),
      server_(load_or_make_keys(config_.run_dir + "/keys", make_keys), config_.bind_address,
              replay_.port),
      slurm_(std::move(slurm)),
      prices_(
          std::make_shared<PriceSource>(config_.options.prices, config_.run_dir + "/prices.last")),
      calls_(kBackgroundThreads),
      membership_(slurm_, &calls_, &journal_, member_job_name(config_.lead_job_id, config_.restart),
                  config_.timings.squeue_s),
      profile_(profile_path(config_.options)),
      incarnation_(make_incarnation()),
      last_run_(replay_.last_run),
      last_generation_(replay_.last_generation),
      coordinator_(replay_.last_generation) {
  make_private_directory(config_.run_dir + "/members");
  membership_.jobs() = MemberJobs(replay_.last_request);
  for (const Member& member : replay_.members) membership_.jobs().adopt(member);
  membership_.set_listener([this](const MemberChange& change) { on_member_change(change); });
  journal_.set_run(last_run_);
  for (const std::string& warning : profile_.warnings()) journal_.warning(warning);
  publish();
  for (int earlier = 0; earlier < config_.restart; ++earlier) {
    membership_.cancel_named(member_job_name(config_.lead_job_id, earlier));
  }
  look_up_lead();
  console_heard_s_ = steady_now_s();
}

void Daemon::look_up_lead() {
  calls_.post([this, slurm = slurm_, lead = config_.lead_job_id] {
    Answer<LeadInfo> answer = slurm->lead(lead);
    return [this, answer = std::move(answer)] {
      lead_lookup_ = LeadLookup::kDone;
      if (answer.value) {
        lead_info_ = answer.value;
      } else {
        journal_.warning("the lead job cannot be looked up: " + answer.problem);
      }
      const auto consoles = std::exchange(early_consoles_, {});
      for (const auto& [from, hello] : consoles) on_console_hello(from, hello);
    };
  });
}

void Daemon::publish() {
  const std::string owner_path = config_.run_dir + "/owner";
  int owner = 0;
  std::istringstream(read_small_file(owner_path)) >> owner;
  if (owner > config_.restart) {
    throw Error(ExitCode::kFailed, owner_path + ": restart " + std::to_string(owner) +
                                       " of the job owns the run, this is restart " +
                                       std::to_string(config_.restart) + "; ending");
  }
  std::ostringstream text;
  text << config_.restart << " " << config_.host << " " << getpid() << "\n";
  write_private_file(owner_path, text.str());
  write_private_file(config_.run_dir + "/endpoint", server_.endpoint() + "\n");
  JobRecord record;
  record.cluster = config_.cluster;
  record.user = config_.user;
  record.host = config_.host;
  record.incarnation = incarnation_;
  record.job_id = config_.lead_job_id;
  record.port = server_.port();
  record.pid = int(getpid());
  record.options = to_arguments(config_.options);
  journal_.job(record);
  if (!config_.interface_note.empty())
    journal_.warning("control channel: " + config_.interface_note);
  spdlog::info("job {} restart {}: {}", config_.lead_job_id, config_.restart, server_.endpoint());
}

void Daemon::run(int stop_fd) {
  bool told_to_stop = false;
  while (!exit_) {
    // Once told, the descriptor stays readable: watching it on would only spin.
    std::vector<int> descriptors = {calls_.event_fd()};
    if (!told_to_stop) descriptors.push_back(stop_fd);
    server_.wait(descriptors, kTick);
    for (const ControlServer::Received& received : server_.receive())
      on_received(received.from, received.message);
    calls_.run_completions();
    if (!told_to_stop && is_readable(stop_fd)) {
      told_to_stop = true;
      spdlog::info("told to end");
      end_run("cancelled", "the job is ending", int(ExitCode::kFailed));
      fire(RunEvent::kTerminate);
    }
    tick();
  }
}

void Daemon::tick() {
  const double now_s = unix_now_s(), steady_s = steady_now_s();
  std::vector<std::string> peers = workers_.ids();
  if (run_) peers.push_back(run_->console);
  server_.tick(peers);
  membership_.tick();
  for (const std::string& id : workers_.silent(steady_s, config_.timings.worker_silence_s)) {
    lose_worker(id, "silent");
  }
  lose_ended_workers(now_s);
  const bool waits_for_console = run_ || replay_.run_open;
  if (waits_for_console && state_ != RunState::kFinishing && state_ != RunState::kDraining &&
      state_ != RunState::kFailed &&
      steady_s - console_heard_s_ > config_.timings.console_silence_s) {
    if (run_) {
      end_run("failed", "the console fell silent", int(ExitCode::kFailed));
      fire(RunEvent::kConsoleGone);
    } else {
      journal_.end(
          {"lost", "the console did not return after the daemon's restart", 0, -1, 0, -1, 0, 0});
      replay_.run_open = false;
      membership_.cancel_all();
    }
  }
  if (run_) {
    notice_ready_members();
    if (state_ == RunState::kWaiting || trains(state_)) keep_requests_current();
    consider_decision(now_s);
    consider_generation(now_s);
    send_status(now_s);
  }
  consider_end(now_s);
}

void Daemon::fire(RunEvent event) {
  const Transition step = transition(state_, event);
  if (!step.defined) {
    ++undefined_events_;
    spdlog::error("state {}: event {} is not defined here; ignored", text_of(state_),
                  text_of(event));
    return;
  }
  if (step.next != state_)
    spdlog::info("{} -> {} ({})", text_of(state_), text_of(step.next), text_of(event));
  state_ = step.next;
  for (const RunAction action : step.actions) perform(action);
}

void Daemon::perform(RunAction action) {
  switch (action) {
    case RunAction::kDecideFirstSet:
      fetch_and_decide(run_->epoch);
      return;
    case RunAction::kPrepareFirst:
      prepare(/*first=*/true);
      return;
    case RunAction::kPreparePlanned:
      prepare(/*first=*/false);
      return;
    case RunAction::kAskReplacements:
      keep_requests_current();
      return;
    case RunAction::kReleaseAll:
      release_all();
      return;
    case RunAction::kCancelAll:
      cancel_all();
      return;
    case RunAction::kRecordEnd:
      record_end();
      return;
    case RunAction::kExit:
      exit_ = true;
      return;
  }
  JABAS_ASSERT(false, "an action without a case");
}

// One line for the job's output, beside the regular status.
void Daemon::tell_console(const std::string& line) {
  Status status;
  status.note = line;
  server_.send(run_->console, status);
}

void Daemon::send_status(double now_s) {
  if (now_s < next_status_s_) return;
  next_status_s_ = now_s + config_.timings.status_s;
  Status status;
  if (run_->progress) status.progress = *run_->progress;
  status.progress.epoch = run_->epoch;
  status.progress.generation = coordinator_.generation();
  for (const PlanMember& member : coordinator_.training()) ++status.gpus[member.gpu_type];
  if (run_->cost.complete()) status.cost_usd = run_->cost.total_usd(now_s);
  const double left_s = remaining_s(now_s);
  const double epoch_s = run_->last_epoch_s > 0 ? run_->last_epoch_s : run_->predicted_s;
  const int later_epochs = run_->spec.epochs - run_->epoch;
  if (trains(state_) && left_s >= 0 && (epoch_s > 0 || later_epochs == 0)) {
    status.eta_s = left_s + epoch_s * later_epochs;
  }
  if (state_ == RunState::kWaiting) {
    const std::string note = waiting_note();
    if (note != last_note_ || now_s >= next_note_s_) {
      next_note_s_ = now_s + config_.timings.waiting_note_s;
      status.note = last_note_ = note;
    }
  }
  server_.send(run_->console, status);
}

}  // namespace jabas
