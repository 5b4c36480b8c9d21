#include "elastic_runner/train_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "allocator/profile.h"
#include "elastic_runner/checkpoint_store.h"
#include "elastic_runner/engine_options.h"

namespace jabas {
namespace {

void require_writable_parent(const std::string& option, const std::string& path) {
  if (path.empty()) return;
  const std::string parent = std::filesystem::path(path).parent_path().string();
  if (::access(parent.c_str(), W_OK | X_OK) != 0) {
    throw IoError(option + "=" + path + ": cannot write in this folder", parent, errno);
  }
}

void make_writable_folder(const std::string& option, const std::string& path) {
  if (path.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw IoError(option + ": cannot create the folder", path, error.value());
  if (::access(path.c_str(), W_OK | X_OK) != 0)
    throw IoError(option + ": cannot write in this folder", path, errno);
}

}  // namespace

void check_train_files(TrainingSpec& spec, const RunnerBackends& backends) {
  EngineOptions engine = engine_options(spec);
  engine.on_skipped = [](std::int64_t samples, const std::string& first) {
    std::fprintf(stderr, "jabas-run: --skip-bad leaves out %lld; the first is %s\n",
                 static_cast<long long>(samples), first.c_str());
  };
  spec.train_samples = backends.check_training(engine);
  if (spec.train_samples < 2) {
    throw InputError("data set " + spec.dataset + ": " + std::to_string(spec.train_samples) +
                     " training samples: at least 2 are needed");
  }
  if (!spec.emulate_profile.empty()) load_profile(spec.emulate_profile);
  if (!spec.resume_dir.empty()) find_newest_checkpoint(spec.resume_dir, training_identity(spec));
  require_writable_parent("--metrics-out", spec.metrics_file);
  require_writable_parent("--export", spec.export_file);
  make_writable_folder("--ledger-out", spec.ledger_dir);
  make_writable_folder("the checkpoints", spec.checkpoint_dir);
}

}  // namespace jabas
