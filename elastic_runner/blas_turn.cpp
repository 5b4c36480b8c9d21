#include "elastic_runner/blas_turn.h"

#include <dlfcn.h>

namespace jabas {
namespace {

constexpr int kSequential = 0;  // of openblas_get_parallel()

template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

bool prepare_blas() {
  const auto get_parallel = find<int()>("openblas_get_parallel");
  if (get_parallel == nullptr) return true;  // another BLAS
  if (get_parallel() == kSequential) return false;
  if (const auto set_threads = find<void(int)>("openblas_set_num_threads")) set_threads(1);
  return true;
}

}  // namespace

bool blas_allows_concurrent_calls() {
  static const bool allowed = prepare_blas();
  return allowed;
}

std::unique_lock<std::mutex> blas_turn() {
  static std::mutex mutex;  // guards nothing of ours: BLAS
  return blas_allows_concurrent_calls() ? std::unique_lock<std::mutex>() : std::unique_lock(mutex);
}

}  // namespace jabas
