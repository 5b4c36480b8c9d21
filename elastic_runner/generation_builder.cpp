#include "elastic_runner/generation_builder.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "elastic_runner/join_signal.h"

namespace jabas {

struct GenerationBuilder::Attempt {
  Attempt(ControlPort& control, Prepare wanted, int my_rank)
      : prepare(std::move(wanted)),
        rank(my_rank),
        store(control, prepare.generation, prepare.attempt, rank, int(prepare.members.size())) {}
  GenerationKey key() const { return {prepare.generation, prepare.attempt}; }

  const Prepare prepare;
  const int rank;
  ControlRendezvous store;
  std::thread thread;
  std::unique_ptr<Communicator> communicator;
  bool built = false, over = false, ticking = false;  // over: cancelled or taken
  std::atomic<bool> ended = false;                    // the thread has nothing left to do
};

GenerationBuilder::GenerationBuilder(std::string worker_id, ControlPort& control,
                                     MakeCommunicator make)
    : worker_id_(std::move(worker_id)), control_(control), make_(std::move(make)) {}

GenerationBuilder::~GenerationBuilder() {
  std::unique_lock lock(mutex_);
  cancel(lock);
  const auto retired = std::move(retired_);
  lock.unlock();
  for (const auto& attempt : retired) attempt->thread.join();
}

bool GenerationBuilder::handle(const Message& message) {
  return std::visit(
      [this](const auto& one) {
        if constexpr (requires { this->on(one); }) {
          this->on(one);
          return true;
        } else {
          return false;
        }
      },
      message);
}

void GenerationBuilder::on(const Prepare& prepare) {
  const auto me =
      std::find_if(prepare.members.begin(), prepare.members.end(),
                   [&](const PlanMember& member) { return member.worker_id == worker_id_; });
  if (me == prepare.members.end()) {
    control_.send(
        BuildFailed{prepare.generation, prepare.attempt, worker_id_ + " is not among the members"});
    return;
  }
  std::unique_lock lock(mutex_);
  cancel(lock);
  reap_locked();
  named_in_.insert(prepare.generation);
  attempt_ = std::make_shared<Attempt>(control_, prepare, int(me - prepare.members.begin()));
  attempt_->thread = std::thread([this, attempt = attempt_] {
    build(attempt);
    attempt->ended = true;
  });
  control_.update_hello([&](Hello& hello) {
    hello.generation_prepared = prepare.generation;
    hello.attempt_prepared = prepare.attempt;
    hello.built = false;
  });
}

void GenerationBuilder::on(const Peers& peers) {
  const std::lock_guard lock(mutex_);
  if (attempt_ && attempt_->key() == GenerationKey{peers.generation, peers.attempt}) {
    attempt_->store.deliver(peers.blobs);
  }
}

void GenerationBuilder::on(const Commit& commit) {
  {
    const std::lock_guard lock(mutex_);
    (commit.at == "now" ? first_commit_ : boundary_commit_) =
        GenerationKey{commit.generation, commit.attempt};
  }
  changed_.notify_all();
}

void GenerationBuilder::on(const Revoke& revoke) {
  const GenerationKey key{revoke.generation, revoke.attempt};
  std::unique_lock lock(mutex_);
  if (taken_commit_ == key) {
    control_.send(TooLate{key.first, key.second});
    return;
  }
  if (boundary_commit_ == key) boundary_commit_.reset();
  if (first_commit_ == key) first_commit_.reset();
  if (attempt_ && attempt_->key() == key) cancel(lock);
  control_.send(Revoked{key.first, key.second});
}

void GenerationBuilder::build(const std::shared_ptr<Attempt>& attempt) {
  const auto [generation, number] = attempt->key();
  std::unique_ptr<Communicator> communicator;
  std::string failure;
  try {
    communicator = make_(attempt->store, attempt->rank, int(attempt->prepare.members.size()));
  } catch (const Error& error) {
    failure = error.what();
  }
  {
    const std::lock_guard lock(mutex_);
    if (attempt->over) return;
    if (failure.empty()) {
      attempt->communicator = std::move(communicator);
      attempt->built = true;
    } else {
      attempt->over = true;
    }
  }
  if (!failure.empty()) {
    control_.send(BuildFailed{generation, number, failure});
    return;
  }
  control_.update_hello([&](Hello& hello) { hello.built = true; });
  control_.send(Built{generation, number});
  changed_.notify_all();
  tick_until_taken(attempt);
}

void GenerationBuilder::tick_until_taken(const std::shared_ptr<Attempt>& attempt) {
  std::unique_lock lock(mutex_);
  while (!attempt->over) {
    if (attempt->rank == 0 && !attempt->prepare.first && attempt->communicator) {
      std::vector<int> joiners;
      for (std::size_t rank = 1; rank < attempt->prepare.members.size(); ++rank) {
        if (!training_.contains(attempt->prepare.members[rank].worker_id))
          joiners.push_back(int(rank));
      }
      attempt->ticking = true;
      lock.unlock();
      std::string failure;
      try {
        const JoinSignal tick = JoinSignal::kTick;
        for (int joiner : joiners)
          attempt->communicator->send(joiner, &tick, sizeof tick, kTickDeadline);
      } catch (const CommError& error) {
        failure = error.what();
      }
      lock.lock();
      attempt->ticking = false;
      // The dead communicator is kept out of the switch, which then fails and says so.
      if (!failure.empty()) {
        std::fprintf(stderr,
                     "jabas-run: a joiner of generation %d does not answer: %s; training goes on\n",
                     attempt->prepare.generation, failure.c_str());
        attempt->communicator.reset();
      }
      changed_.notify_all();
    }
    changed_.wait_for(lock, kTickInterval, [&] { return attempt->over; });
  }
  const auto dropped = std::move(attempt->communicator);
  lock.unlock();  // dropping one may take some milliseconds
}

void GenerationBuilder::cancel(std::unique_lock<std::mutex>&) {
  if (!attempt_) return;
  attempt_->over = true;
  attempt_->store.cancel();
  retired_.push_back(std::move(attempt_));
  attempt_.reset();
  changed_.notify_all();
}

void GenerationBuilder::reap_locked() {
  for (auto it = retired_.begin(); it != retired_.end();) {
    if ((*it)->ended) {
      (*it)->thread.join();
      it = retired_.erase(it);
    } else {
      ++it;
    }
  }
}

std::optional<PreparedGeneration> GenerationBuilder::take_locked(
    std::unique_lock<std::mutex>& lock) {
  const auto attempt = attempt_;
  const auto deadline = kTickDeadline * int(attempt->prepare.members.size());
  changed_.wait_for(lock, deadline, [&] { return !attempt->ticking; });
  if (attempt != attempt_ || attempt->ticking || !attempt->communicator) return std::nullopt;
  PreparedGeneration prepared{attempt->prepare, std::move(attempt->communicator)};
  cancel(lock);
  return prepared;
}

void GenerationBuilder::set_training(const std::vector<PlanMember>& members) {
  const std::lock_guard lock(mutex_);
  training_.clear();
  for (const auto& member : members) training_.insert(member.worker_id);
}

void GenerationBuilder::wait(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait);
}

bool GenerationBuilder::first_committed() {
  const std::lock_guard lock(mutex_);
  return first_commit_ && attempt_ && attempt_->built && attempt_->key() == *first_commit_;
}

std::optional<PreparedGeneration> GenerationBuilder::take_first() {
  if (!first_committed()) return std::nullopt;
  std::unique_lock lock(mutex_);
  first_commit_.reset();
  boundary_commit_.reset();
  return take_locked(lock);
}

std::optional<PreparedGeneration> GenerationBuilder::take_joining() {
  std::unique_lock lock(mutex_);
  if (!attempt_ || !attempt_->built || attempt_->prepare.first || !training_.empty())
    return std::nullopt;
  return take_locked(lock);
}

std::optional<GenerationKey> GenerationBuilder::take_commit() {
  const std::lock_guard lock(mutex_);
  if (!boundary_commit_) return std::nullopt;
  taken_commit_ = std::exchange(boundary_commit_, std::nullopt);
  return taken_commit_;
}

std::optional<PreparedGeneration> GenerationBuilder::take(GenerationKey key) {
  std::unique_lock lock(mutex_);
  if (!attempt_ || !attempt_->built || attempt_->key() != key) return std::nullopt;
  return take_locked(lock);
}

bool GenerationBuilder::was_member_of(int generation) {
  const std::lock_guard lock(mutex_);
  return named_in_.contains(generation);
}

void GenerationBuilder::drop_planned() {
  std::unique_lock lock(mutex_);
  boundary_commit_.reset();
  if (attempt_ && !attempt_->prepare.first) cancel(lock);
}

}  // namespace jabas
