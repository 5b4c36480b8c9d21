#include "tests/jabasd/fake_world.h"

#include <poll.h>

#include <fstream>
#include <stdexcept>

namespace jabas {
namespace {

constexpr std::int64_t kEpochSamples = 1000000;

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

FakeWorld::FakeWorld(FakeSlurmClient* slurm, std::string run_dir, int base_workers)
    : slurm_(slurm), run_dir_(std::move(run_dir)), base_workers_(base_workers) {}

PeerKeys FakeWorld::keys() const {
  return {first_line(run_dir_ + "/keys/server.pub"), first_line(run_dir_ + "/keys/client.pub"),
          first_line(run_dir_ + "/keys/client.key")};
}

void FakeWorld::say_hello(const TrainingSpec& spec, const std::vector<std::string>& arguments,
                          const std::string& console_id) {
  console_ = std::make_unique<FakePeer>(first_line(run_dir_ + "/endpoint"), keys(), console_id);
  Hello hello;
  hello.role = "console";
  hello.worker_id = "console";
  hello.job_id = "7";
  hello.arguments = arguments;
  hello.working_directory = "/home/user";
  hello.executable = "/opt/jabas/bin/jabas-run";
  hello.environment = {{"PATH", "/usr/bin"}, {"SLURM_JOB_ID", "7"}};
  hello.base_workers = base_workers_;
  hello.spec = spec;
  hello.spec.train_samples = kEpochSamples;
  console_hello_ = hello;
  console_->send(hello);
}

Hello FakeWorld::worker_hello(const std::string& id) const {
  Hello hello;
  hello.role = "worker";
  hello.worker_id = id;
  hello.job_id = id.substr(0, id.find('.'));
  hello.host = "n1";
  hello.local_rank = std::stoi(id.substr(id.find('.') + 1));
  for (const PlanMember& member : training_) {
    if (member.worker_id == id) hello.generation_trained = generation_;
  }
  return hello;
}

void FakeWorld::say_hello_again() {
  console_->send(console_hello_);
  for (auto& [id, worker] : workers_) {
    worker.seen.clear();  // numbers start again with a new daemon
    worker.peer->send(worker_hello(id));
  }
}

void FakeWorld::until(const std::string& what, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("20 s passed without: " + what);
    step();
    poll(nullptr, 0, 5);
  }
}

void FakeWorld::step() {
  start_missing_workers();
  const auto now = std::chrono::steady_clock::now();
  if (now >= next_heartbeat_) {
    next_heartbeat_ = now + std::chrono::milliseconds(200);
    if (console_) console_->send(Heartbeat{});
    for (auto& [id, worker] : workers_) worker.peer->send(Heartbeat{});
  }
  while (console_) {
    const auto envelope = console_->receive();
    if (!envelope) break;
    handle_console(*envelope);
  }
  for (auto& [id, worker] : workers_) {
    while (const auto envelope = worker.peer->receive()) handle_worker(id, *envelope);
  }
  for (const std::string& id : leaving_) workers_.erase(id);
  leaving_.clear();
}

void FakeWorld::start_missing_workers() {
  const auto start = [&](const std::string& job_id, int rank, const std::string& type) {
    const std::string id = job_id + "." + std::to_string(rank);
    if (!started_.insert(id).second) return;
    FakeWorker& worker = workers_[id];
    worker.peer = std::make_unique<FakePeer>(first_line(run_dir_ + "/endpoint"), keys(), id);
    Hello hello = worker_hello(id);
    hello.gpu_type = type;
    worker.peer->send(hello);
  };
  for (const JobRow& row : slurm_->jobs()) {
    if (row.state == "RUNNING")
      start(std::to_string(row.job_id), 0, row.comment.substr(row.comment.rfind(':') + 1));
  }
  if (welcomes_ > 0) {
    for (int rank = 0; rank < base_workers_; ++rank) start("7", rank, "");
  }
  for (const JobRow& row : slurm_->jobs()) {
    if (row.state == "CANCELLED") workers_.erase(std::to_string(row.job_id) + ".0");
  }
}

void FakeWorld::handle_console(const Envelope& envelope) {
  if (envelope.seq > 0) console_->send(Ack{envelope.seq});
  if (std::holds_alternative<Welcome>(envelope.message)) ++welcomes_;
  if (const Stop* stop = std::get_if<Stop>(&envelope.message)) stops_.push_back(*stop);
  if (const Status* status = std::get_if<Status>(&envelope.message)) status_ = *status;
}

void FakeWorld::handle_worker(const std::string& id, const Envelope& envelope) {
  FakeWorker& worker = workers_.at(id);
  if (envelope.seq > 0) {
    worker.peer->send(Ack{envelope.seq});
    if (!worker.seen.insert(envelope.seq).second) return;
  }
  const Message& message = envelope.message;
  if (std::holds_alternative<Welcome>(message)) {
    const std::string& type = std::get<Welcome>(message).calibrate;
    if (!worker.welcomed && !type.empty()) {
      calibrated_.push_back(type);
      if (answer_calibrations) worker.peer->send(calibration(type));
    }
    if (!worker.welcomed) worker.peer->send(Ready{});
    worker.welcomed = true;
  } else if (const Prepare* prepare = std::get_if<Prepare>(&message)) {
    prepared_[{prepare->generation, prepare->attempt}] = *prepare;
    for (std::size_t rank = 0; rank < prepare->members.size(); ++rank) {
      if (prepare->members[rank].worker_id == id) {
        worker.peer->send(
            Rendezvous{prepare->generation, prepare->attempt, int(rank), "address of " + id});
      }
    }
  } else if (const Peers* peers = std::get_if<Peers>(&message)) {
    worker.peer->send(Built{peers->generation, peers->attempt});
  } else if (const Commit* commit = std::get_if<Commit>(&message)) {
    if (commit->at == "boundary") {
      committed_generation_ = commit->generation;
      committed_attempt_ = commit->attempt;
    } else if (generation_ < commit->generation) {
      start_generation(commit->generation, commit->attempt, epoch_);
    }
  } else if (const Revoke* revoke = std::get_if<Revoke>(&message)) {
    if (revoke->generation == committed_generation_ && revoke->attempt == committed_attempt_) {
      committed_generation_ = 0;
      worker.peer->send(Revoked{revoke->generation, revoke->attempt});
    }
  } else if (std::holds_alternative<Release>(message) || std::holds_alternative<Stop>(message)) {
    leave(id);
  }
}

// Seconds per sample in three local batches.
Calibration FakeWorld::calibration(const std::string& type) const {
  Calibration result;
  result.gpu_type = type;
  const auto found = s_per_sample.find(type);
  const double s = found == s_per_sample.end() ? 1e-3 : found->second;
  for (const std::int64_t b : {16, 32, 64})
    result.points.push_back({b, 1, 0, s * double(b) / 3, s * double(b) * 2 / 3, 0, 0, 0});
  result.buckets = {{1e6, 0}};
  return result;
}

void FakeWorld::worker_times(double forward_and_backward_s) {
  for (const PlanMember& member : training_) {
    WorkerTimes times;
    times.generation = generation_;
    times.gpu_type = member.gpu_type;
    times.local_batch = 32;
    times.streams = 1;
    times.steps = 100;
    times.median.forward_s = forward_and_backward_s / 3;
    times.median.backward_s = forward_and_backward_s * 2 / 3;
    times.buckets = {{1e6, 0.001}};
    workers_.at(member.worker_id).peer->send(times);
  }
}

void FakeWorld::leave(const std::string& id) {
  const auto worker = workers_.find(id);
  if (worker == workers_.end()) return;
  worker->second.peer->send(Leaving{"as told"});
  // Its socket lives one step longer, so that the message gets out.
  leaving_.insert(id);
  slurm_->end_job(std::atol(id.c_str()), "COMPLETED");
}

void FakeWorld::start_generation(int generation, int attempt, int epoch) {
  const std::vector<PlanMember> old = training_;
  generation_ = generation;
  training_ = prepared_.at({generation, attempt}).members;
  committed_generation_ = 0;
  for (const PlanMember& member : old) {
    bool stays = false;
    for (const PlanMember& next : training_) stays = stays || next.worker_id == member.worker_id;
    if (!stays) leave(member.worker_id);
  }
  rank0().send(Switched{generation, attempt, epoch, 1, 0.25});
}

FakePeer& FakeWorld::rank0() { return *workers_.at(training_.at(0).worker_id).peer; }

void FakeWorld::progress(int epoch, double seconds_left) {
  Progress progress;
  progress.generation = generation_;
  progress.epoch = epoch;
  progress.step = 100 * epoch;
  progress.epoch_samples = kEpochSamples;
  progress.samples_consumed = kEpochSamples / 2;
  progress.samples_per_s = double(kEpochSamples - progress.samples_consumed) / seconds_left;
  progress.global_batch = 128;
  rank0().send(progress);
}

void FakeWorld::end_epoch(int epoch) {
  EpochReport report;
  report.generation = generation_;
  report.epoch = epoch;
  report.steps = 100;
  report.samples = kEpochSamples;
  report.global_batch = 128;
  report.test_accuracy = 0.5;
  rank0().send(report);
  epoch_ = epoch + 1;
  if (committed_generation_ > 0)
    start_generation(committed_generation_, committed_attempt_, epoch_);
}

void FakeWorld::finish(int epoch) {
  end_epoch(epoch);
  rank0().send(Finished{0.9, 100});
  for (const PlanMember& member : training_) leave(member.worker_id);
}

void FakeWorld::kill_worker(const std::string& id) { workers_.erase(id); }

void FakeWorld::fault(int epoch, const std::string& reporter) {
  workers_.at(reporter).peer->send(Fault{generation_, "collective failed", epoch, 10, 5});
}

std::vector<std::string> FakeWorld::worker_ids() const {
  std::vector<std::string> ids;
  for (const auto& [id, worker] : workers_) ids.push_back(id);
  return ids;
}

int FakeWorld::committed_size() const {
  const auto found = prepared_.find({committed_generation_, committed_attempt_});
  return found == prepared_.end() ? 0 : int(found->second.members.size());
}

std::map<std::string, int> FakeWorld::trained_gpus() const {
  std::map<std::string, int> counts;
  for (const PlanMember& member : training_) ++counts[member.gpu_type];
  return counts;
}

}  // namespace jabas
