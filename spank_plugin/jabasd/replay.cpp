#include "spank_plugin/jabasd/replay.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "allocator/error.h"
#include "allocator/journal.h"

namespace jabas {
namespace {

using Json = nlohmann::json;

class Replayer {
 public:
  explicit Replayer(int restart) : restart_(restart) {}

  void apply(const Json& record) {
    const std::string type = record.at("type");
    // Generation and request numbers go on over requeues; everything else belongs to one restart
    // count.
    if (type == record::kRequest)
      result_.last_request = std::max(result_.last_request, record.at("request").get<int>());
    if (type == record::kPrepare) {
      result_.last_generation =
          std::max(result_.last_generation, record.at("generation").get<int>());
    }
    if (type == record::kTrain)
      result_.last_run = std::max(result_.last_run, record.at("run").get<int>());
    if (record.at("restart").get<int>() != restart_) return;

    if (type == record::kJob) {
      result_.port = record.at("port");
    } else if (type == record::kTrain) {
      begin_run(record);
    } else if (type == record::kDecision) {
      result_.wanted = record.at("after").get<GpuCounts>();
      result_.decided_epoch = record.at("epoch");
    } else if (type == record::kRequest) {
      Member member;
      member.request = record.at("request");
      member.gpu_type = record.at("gpu_type");
      member.gpus = record.at("gpus");
      member.requested_s = record.at("time");
      member.state = MemberState::kUnknown;  // perhaps submitted: squeue will tell
      member.submit_s = member.requested_s;
      members_[member.request] = member;
    } else if (type == record::kSubmitted) {
      Member& member = members_[record.at("request").get<int>()];
      member.job_id = record.at("job_id");
      member.state = MemberState::kPending;
    } else if (type == record::kSubmitFailed) {
      members_.erase(record.at("request").get<int>());
    } else if (type == record::kMember) {
      on_member(record);
    } else if (type == record::kPrepare) {
      on_prepare(record);
    } else if (type == record::kCommit) {
      committed_ = true;
    } else if (type == record::kSwitchFailed) {
      committed_ = false;
      prepared_ = {};
    } else if (type == record::kSwitched) {
      result_.generation = record.at("generation");
      result_.training = prepared_.members;
      committed_ = false;
      prepared_ = {};
    } else if (type == record::kCalibration) {
      Json message = record;
      message["seq"] = 0;
      result_.calibrations.push_back(std::get<Calibration>(decode(message.dump()).message));
    } else if (type == record::kCorrection) {
      result_.corrections.push_back({record.at("gpu_type"), record.at("factor"),
                                     record.at("deviation"), record.at("reports")});
    } else if (type == record::kEpoch) {
      result_.epoch = record.at("epoch").get<int>() + 1;
    } else if (type == record::kEnd) {
      result_.run_open = false;
      result_.generation = 0;
      result_.training.clear();
      committed_ = false;
      prepared_ = {};
    }
  }

  Replay finish() {
    for (const auto& [request, member] : members_) result_.members.push_back(member);
    if (result_.run_open && committed_) result_.open_commit = {prepared_};
    return std::move(result_);
  }

 private:
  void begin_run(const Json& record) {
    result_.run_open = true;
    result_.arguments = record.at("arguments").get<std::vector<std::string>>();
    result_.started_s = record.at("time");
    result_.generation = 0;
    result_.training.clear();
    result_.wanted.clear();
    result_.epoch = 1;
    result_.decided_epoch = 0;
    result_.calibrations.clear();
    result_.corrections.clear();
    committed_ = false;
    prepared_ = {};
  }

  void on_member(const Json& record) {
    const int request = record.at("request");
    const std::string state = record.at("state");
    if (state == "ended" || state == "lost" || state == "cancelled") {
      members_.erase(request);
      return;
    }
    Member& member = members_[request];
    member.request = request;
    member.gpu_type = record.at("gpu_type");
    member.gpus = record.at("gpus");
    member.job_id = record.at("job_id");
    member.node = record.at("node");
    member.submit_s = record.at("submit_time");
    member.start_s = record.at("start_time");
    member.state = state == "pending" ? MemberState::kPending : MemberState::kRunning;
    member.released = member.released || state == "released";
    if (state == "ready") member.ready_s = record.at("time");
  }

  void on_prepare(const Json& record) {
    committed_ = false;
    prepared_ = {record.at("generation"), record.at("attempt"), {}, record.at("first")};
    for (const Json& member : record.at("members")) {
      prepared_.members.push_back(
          {member.at("worker_id"), member.at("gpu_type"), member.at("host")});
    }
  }

  int restart_;
  Replay result_;
  std::map<int, Member> members_;
  ReplayedCommit prepared_;
  bool committed_ = false;
};

}  // namespace

Replay replay(const std::vector<std::string>& records, int restart) {
  Replayer replayer(restart);
  for (const std::string& text : records) {
    try {
      replayer.apply(Json::parse(text));
    } catch (const ProtocolError& error) {
      throw InputError("journal record \"" + text.substr(0, 120) + "\": " + error.what());
    } catch (const Json::exception& error) {
      throw InputError("journal record \"" + text.substr(0, 120) + "\": " + error.what());
    }
  }
  return replayer.finish();
}

}  // namespace jabas
