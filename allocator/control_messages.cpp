#include "allocator/control_messages.h"

#include <array>
#include <utility>

#include "allocator/error.h"
#include "allocator/field_archive.h"

namespace jabas {
namespace {

// Wire names, in the order of Message's alternatives.
constexpr std::array<const char*, std::variant_size_v<Message>> kNames = {
    "hello",         "ready",     "rendezvous", "built",    "build_failed", "switched",
    "switch_failed", "too_late",  "revoked",    "progress", "epoch_report", "worker_times",
    "calibration",   "leaving",   "finished",   "fault",    "console_bye",  "welcome",
    "prepare",       "peers",     "commit",     "revoke",   "release",      "stop",
    "status",        "heartbeat", "ack"};

// What most messages of a preparation start with.
template <typename T>
void attempt(FieldArchive& a, T& m) {
  a.field("generation", m.generation);
  a.field("attempt", m.attempt);
}

void visit(FieldArchive& a, StepTimes& m) {
  a.field("data_s", m.data_s);
  a.field("forward_s", m.forward_s);
  a.field("backward_s", m.backward_s);
  a.field("all_reduce_s", m.all_reduce_s);
  a.field("update_s", m.update_s);
  a.field("step_s", m.step_s);
  a.field("exposed_all_reduce_s", m.exposed_all_reduce_s);
}
void visit(FieldArchive& a, BucketTime& m) {
  a.field("bytes", m.bytes);
  a.field("all_reduce_s", m.all_reduce_s);
}
void visit(FieldArchive& a, ComputePoint& m) {
  a.field("local_batch", m.local_batch);
  a.field("streams", m.streams);
  a.field("data_s", m.data_s);
  a.field("forward_s", m.forward_s);
  a.field("backward_s", m.backward_s);
  a.field("update_s", m.update_s);
}
void visit(FieldArchive& a, BatchDecision& m) {
  a.field("step", m.step);
  a.field("epoch", m.epoch);
  a.field("wanted_batch", m.wanted_batch);
  a.field("global_batch", m.global_batch);
  a.field("local_batch", m.local_batch);
  a.field("virtual_workers", m.virtual_workers);
  a.field("similarity", m.similarity);
  a.field("grad_sqr", m.grad_sqr);
  a.field("grad_var", m.grad_var);
  a.field("reason", m.reason);
}
void visit(FieldArchive& a, PlanMember& m) {
  a.field("worker_id", m.worker_id);
  a.field("gpu_type", m.gpu_type);
  a.field("host", m.host);
}
void visit_buckets(FieldArchive& a, std::vector<BucketTime>& buckets) {
  a.objects("buckets", buckets,
            [](FieldArchive& inner, BucketTime& bucket) { visit(inner, bucket); });
}
void visit_spec(FieldArchive& a, TrainingSpec& spec) {
  a.object("spec", [&](FieldArchive& inner) { visit_fields(inner, spec); });
}
void visit_times(FieldArchive& a, const char* key, StepTimes& times) {
  a.object(key, [&](FieldArchive& inner) { visit(inner, times); });
}

void visit(FieldArchive& a, Hello& m) {
  a.field("protocol", m.protocol);
  a.field("role", m.role);
  a.field("worker_id", m.worker_id);
  a.field("job_id", m.job_id);
  a.field("host", m.host);
  a.field("gpu_type", m.gpu_type);
  a.field("version", m.version);
  a.field("boot_id", m.boot_id);
  a.field("local_rank", m.local_rank);
  a.field("generation_trained", m.generation_trained);
  a.field("generation_prepared", m.generation_prepared);
  a.field("attempt_prepared", m.attempt_prepared);
  a.field("built", m.built);
  a.field("epoch", m.epoch);
  a.field("samples_consumed", m.samples_consumed);
  a.field("last_committed_step", m.last_committed_step);
  a.field("arguments", m.arguments);
  a.field("working_directory", m.working_directory);
  a.field("executable", m.executable);
  a.field("environment", m.environment);
  a.field("base_workers", m.base_workers);
  a.field("base_gpu_type", m.base_gpu_type);
  visit_spec(a, m.spec);
}
void visit(FieldArchive&, Ready&) {}
void visit(FieldArchive& a, Rendezvous& m) {
  attempt(a, m);
  a.field("rank", m.rank);
  a.bytes("blob", m.blob);
}
void visit(FieldArchive& a, Built& m) { attempt(a, m); }
void visit(FieldArchive& a, BuildFailed& m) {
  attempt(a, m);
  a.field("reason", m.reason);
}
void visit(FieldArchive& a, Switched& m) {
  attempt(a, m);
  a.field("epoch", m.epoch);
  a.field("step", m.step);
  a.field("pause_s", m.pause_s);
}
void visit(FieldArchive& a, SwitchFailed& m) {
  attempt(a, m);
  a.field("reason", m.reason);
}
void visit(FieldArchive& a, TooLate& m) { attempt(a, m); }
void visit(FieldArchive& a, Revoked& m) { attempt(a, m); }
void visit(FieldArchive& a, Progress& m) {
  a.field("generation", m.generation);
  a.field("epoch", m.epoch);
  a.field("step", m.step);
  a.field("samples_consumed", m.samples_consumed);
  a.field("epoch_samples", m.epoch_samples);
  a.field("global_batch", m.global_batch);
  a.field("loss", m.loss);
  a.field("samples_per_s", m.samples_per_s);
  visit_times(a, "times", m.times);
  a.objects("batch_decisions", m.batch_decisions,
            [](FieldArchive& inner, BatchDecision& decision) { visit(inner, decision); });
  a.field("emulated_steps", m.emulated_steps);
  a.field("emulation_overruns", m.emulation_overruns);
}
void visit(FieldArchive& a, EpochReport& m) {
  a.field("generation", m.generation);
  a.field("epoch", m.epoch);
  a.field("steps", m.steps);
  a.field("samples", m.samples);
  a.field("last_step", m.last_step);
  a.field("global_batch", m.global_batch);
  a.field("loss", m.loss);
  a.field("test_accuracy", m.test_accuracy);
  a.field("train_s", m.train_s);
  a.field("evaluation_s", m.evaluation_s);
  a.field("wanted_batch", m.wanted_batch);
  a.field("grad_sqr", m.grad_sqr);
  a.field("grad_var", m.grad_var);
  a.field("emulated_steps", m.emulated_steps);
  a.field("emulation_overruns", m.emulation_overruns);
}
void visit(FieldArchive& a, WorkerTimes& m) {
  a.field("generation", m.generation);
  a.field("gpu_type", m.gpu_type);
  a.field("local_batch", m.local_batch);
  a.field("streams", m.streams);
  a.field("accum_steps", m.accum_steps);
  a.field("steps", m.steps);
  visit_times(a, "median", m.median);
  visit_buckets(a, m.buckets);
}
void visit(FieldArchive& a, Calibration& m) {
  a.field("gpu_type", m.gpu_type);
  a.objects("points", m.points,
            [](FieldArchive& inner, ComputePoint& point) { visit(inner, point); });
  visit_buckets(a, m.buckets);
  a.field("duration_s", m.duration_s);
}
void visit(FieldArchive& a, Leaving& m) { a.field("reason", m.reason); }
void visit(FieldArchive& a, Finished& m) {
  a.field("test_accuracy", m.test_accuracy);
  a.field("steps", m.steps);
}
void visit(FieldArchive& a, Fault& m) {
  a.field("generation", m.generation);
  a.field("what", m.what);
  a.field("epoch", m.epoch);
  a.field("samples_consumed", m.samples_consumed);
  a.field("last_committed_step", m.last_committed_step);
}
void visit(FieldArchive& a, ConsoleBye& m) { a.field("exit_code", m.exit_code); }
void visit(FieldArchive& a, Welcome& m) {
  a.field("incarnation", m.incarnation);
  a.field("lease_s", m.lease_s);
  visit_spec(a, m.spec);
  a.field("calibrate", m.calibrate);
}
void visit(FieldArchive& a, Prepare& m) {
  attempt(a, m);
  a.objects("members", m.members,
            [](FieldArchive& inner, PlanMember& member) { visit(inner, member); });
  a.field("profile_json", m.profile_json);
  a.field("first", m.first);
}
void visit(FieldArchive& a, Peers& m) {
  attempt(a, m);
  a.bytes("blobs", m.blobs);
}
void visit(FieldArchive& a, Commit& m) {
  attempt(a, m);
  a.field("at", m.at);
}
void visit(FieldArchive& a, Revoke& m) { attempt(a, m); }
void visit(FieldArchive& a, Release& m) { a.field("reason", m.reason); }
void visit(FieldArchive& a, Stop& m) {
  a.field("exit_code", m.exit_code);
  a.field("reason", m.reason);
}
void visit(FieldArchive& a, Status& m) {
  a.object("progress", [&](FieldArchive& inner) { visit(inner, m.progress); });
  a.field("gpus", m.gpus);
  a.field("cost_usd", m.cost_usd);
  a.field("eta_s", m.eta_s);
  a.field("note", m.note);
}
void visit(FieldArchive&, Heartbeat&) {}
void visit(FieldArchive& a, Ack& m) { a.field("acked", m.acked); }

// A default-constructed alternative by its wire name.
template <std::size_t... I>
bool emplace_by_name(Message& message, const std::string& name, std::index_sequence<I...>) {
  return ((name == kNames[I] && (message.emplace<I>(), true)) || ...);
}

}  // namespace

std::string type_name(const Message& message) { return kNames.at(message.index()); }

std::string encode(const Envelope& envelope) {
  Envelope copy = envelope;  // an archive visits what it may change
  std::string type = type_name(copy.message);
  return write_object([&](FieldArchive& archive) {
    int version = kProtocolVersion;
    archive.field("v", version);
    archive.field("type", type);
    archive.field("seq", copy.seq);
    std::visit([&](auto& message) { visit(archive, message); }, copy.message);
  });
}

Envelope decode(const std::string& text) {
  Envelope envelope;
  std::string type;
  read_object(text, "message", [&](FieldArchive& archive) {
    int version = 0;
    archive.field("v", version);
    if (version != kProtocolVersion) {
      throw ProtocolError("message.v: found " + std::to_string(version) + ", accepted is " +
                          std::to_string(kProtocolVersion));
    }
    archive.field("type", type);
    archive.field("seq", envelope.seq);
    constexpr auto kIndices = std::make_index_sequence<std::variant_size_v<Message>>();
    if (!emplace_by_name(envelope.message, type, kIndices)) {
      throw ProtocolError("message.type: found \"" + type + "\", which this version does not know");
    }
    archive.rename(type);
    std::visit([&](auto& message) { visit(archive, message); }, envelope.message);
  });
  return envelope;
}

}  // namespace jabas
