#include "elastic_runner/worker.h"

#include <csignal>
#include <cstdio>
#include <future>

#include "elastic_runner/calibration.h"
#include "elastic_runner/control_client.h"
#include "elastic_runner/engine_options.h"
#include "elastic_runner/run_directory.h"
#include "elastic_runner/slurm_tools.h"
#include "elastic_runner/socket_transport.h"
#include "elastic_runner/trainer.h"
#include "elastic_runner/zmq_transport.h"

namespace jabas {
namespace {

constexpr std::chrono::seconds kWelcomeDeadline{30};

struct Surroundings {
  Hello hello;
  std::unique_ptr<ControlTransport> transport;
  std::string data_address;
};

Surroundings look_around(const WorkerOptions& options) {
  Surroundings around;
  Hello& hello = around.hello;
  hello.role = "worker";
  hello.host = host_name();
  hello.boot_id = boot_id();
  hello.version = JABAS_VERSION;
  hello.local_rank = options.local_rank;
  hello.gpu_type = environment("JABAS_GPU_TYPE");
  if (options.control_fd >= 0) {
    hello.worker_id = "local." + std::to_string(options.local_rank);
    around.transport = std::make_unique<SocketTransport>(options.control_fd);
    around.data_address = "127.0.0.1";
    return around;
  }
  hello.job_id = environment("SLURM_JOB_ID");
  hello.worker_id = hello.job_id + "." + std::to_string(options.local_rank);
  ZmqTransportOptions zmq;
  zmq.run_dir = environment("JABAS_RUN_DIR");
  zmq.fallback_endpoint = environment("JABAS_ENDPOINT");
  zmq.routing_id = hello.worker_id;
  if (hello.job_id.empty() || zmq.run_dir.empty()) {
    throw UsageError(
        "worker: SLURM_JOB_ID and JABAS_RUN_DIR are not set: started by jabas-run train and join "
        "only");
  }
  around.transport = make_zmq_transport(zmq);
  const std::string endpoint = read_endpoint(zmq.run_dir);
  around.data_address = data_address(endpoint.empty() ? zmq.fallback_endpoint : endpoint);
  return around;
}

// Before `ready`: nobody waits for this worker yet.
Calibration measured(const TrainingContext& context, const std::string& gpu_type) {
  const bool emulated = context.spec.device == "emulated";
  // What it emulates comes with the plan: there is nothing to measure before.
  if (emulated && !context.emulation_profile) return {gpu_type, {}, {}, 0};
  std::optional<Emulation> emulation;
  if (emulated) {
    emulation.emplace(*context.emulation_profile, context.spec.emulate_scale,
                      emulated_type(*context.emulation_profile, gpu_type, context.own_gpu_type));
  }
  return calibrate(context.spec, context.engine, emulation ? &*emulation : nullptr, gpu_type);
}

ExitCode train_with(const Welcome& welcome, const std::string& worker_id,
                    const RunnerBackends& backends, ControlPort& control,
                    GenerationBuilder& builder, WorkerOrders& orders) {
  const TrainingSpec& spec = welcome.spec;
  std::unique_ptr<Ledger> ledger;
  if (!spec.ledger_dir.empty())
    ledger = std::make_unique<Ledger>(spec.ledger_dir, worker_id, spec.train_samples);
  EngineOptions options = engine_options(spec);
  if (ledger) {
    options.on_read = [&](std::int64_t virtual_worker, const std::vector<std::int64_t>& samples) {
      ledger->record_read(virtual_worker, samples);
    };
  }
  const auto engine = backends.make_engine(options);
  if (engine->train_samples() != spec.train_samples) {
    throw InputError("data set " + spec.dataset + ": " + std::to_string(engine->train_samples()) +
                     " training samples here, the run has " + std::to_string(spec.train_samples));
  }
  TrainingContext context{spec,       worker_id,         environment("JABAS_GPU_TYPE"),
                          *engine,    control,           builder,
                          orders,     ledger.get(),      std::nullopt,
                          RunState{}, spec.train_samples};
  if (!spec.emulate_profile.empty()) context.emulation_profile = load_profile(spec.emulate_profile);
  Trainer trainer(context);
  if (!welcome.calibrate.empty()) control.send(measured(context, welcome.calibrate));
  control.send(Ready{});
  return trainer.run();
}

// Members also cancel what else the run has in the queue: nobody else is left to do it.
void cancel_run_if_member() {
  const std::string run = environment("JABAS_MEMBER");
  if (!run.empty()) cancel_jobs_of_run(run);
}

}  // namespace

ExitCode run_worker(const WorkerOptions& options, const RunnerBackends& backends) {
  WorkerOrders::catch_sigterm();
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C reaches the whole terminal; the controller decides
  Surroundings around = look_around(options);
  const std::string worker_id = around.hello.worker_id;

  WorkerOrders orders;
  ControlClient control(std::move(around.transport), around.hello);
  GenerationBuilder builder(
      worker_id, control, [&](RendezvousStore& store, int rank, int world_size) {
        return backends.make_communicator(store, rank, world_size, around.data_address);
      });
  std::promise<Welcome> welcomed;
  bool is_welcome = false;
  control.start([&](const Message& message) {
    if (const auto* welcome = std::get_if<Welcome>(&message)) {
      if (!std::exchange(is_welcome, true)) welcomed.set_value(*welcome);
    } else if (!builder.handle(message) && !orders.handle(message)) {
      std::fprintf(stderr, "jabas-run: %s: message %s is not for a worker; it is ignored\n",
                   worker_id.c_str(), type_name(message).c_str());
    }
  });
  struct StopControl {
    ControlClient& client;
    ~StopControl() { client.stop(); }  // before the builder that its handler uses
  } stop_control{control};

  auto answer = welcomed.get_future();
  const auto deadline = Clock::now() + kWelcomeDeadline;
  while (answer.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
    if (orders.stop() || orders.release()) return ExitCode::kOk;
    if (Clock::now() >= deadline || control.closed()) {
      std::fprintf(stderr, "jabas-run: %s: the daemon does not answer (30 s); leaving\n",
                   worker_id.c_str());
      return ExitCode::kOk;
    }
  }
  const Welcome welcome = answer.get();
  try {
    const ExitCode code = train_with(welcome, worker_id, backends, control, builder, orders);
    if (code == ExitCode::kDaemonLost) cancel_run_if_member();
    return code;
  } catch (const Error& error) {
    control.send(Leaving{std::string("error: ") + error.what()});
    throw;
  }
}

}  // namespace jabas
