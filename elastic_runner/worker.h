// The worker process (`jabas-run worker`, internal): one per GPU, started by `train` (local mode,
// or base GPUs) or `join`.
//
// Connects to the daemon (ZeroMQ) or the local controller (inherited descriptor), says hello,
// builds engine and model from the welcome's specification, reports ready, trains until told to
// leave.
// Exit code: 0 after a proper end, kDaemonLost after a lost lease, else that of the error, whose
//            text is on stderr.
#pragma once

#include "elastic_runner/runner_backends.h"

namespace jabas {

struct WorkerOptions {
  int local_rank = 0;
  int control_fd = -1;  // >= 0: local mode
};
ExitCode run_worker(const WorkerOptions& options, const RunnerBackends& backends);

}  // namespace jabas
