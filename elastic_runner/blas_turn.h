// Keeps concurrent streams of one process off a BLAS that cannot bear them.
//
// LibTorch calls whatever BLAS the system provides. OpenBLAS built sequential (Debian:
// libopenblas0-serial) corrupts the results of concurrent callers now and then (seen with 0.3.21: a
// few wrong products in 10^5), so with it passes take turns. Its threaded builds are safe; they are
// set to one thread per call, since streams are the parallelism here. Threads: any.
#pragma once

#include <mutex>

namespace jabas {

// True if streams may call BLAS at the same time. The first call also sets a threaded OpenBLAS to
// one thread.
bool blas_allows_concurrent_calls();

// Held around everything that may call BLAS on a stream. Owns no lock where none is needed.
std::unique_lock<std::mutex> blas_turn();

}  // namespace jabas
