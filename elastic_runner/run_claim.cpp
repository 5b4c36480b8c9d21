#include "elastic_runner/run_claim.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "allocator/error.h"

namespace jabas {

std::string claim_checkpoint_folder(const std::string& run_dir, int restart) {
  for (int k = 1;; ++k) {
    const std::string folder = run_dir + "/checkpoints/run-" + std::to_string(k);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw IoError("cannot create the checkpoint folder", folder, error.value());
    const std::string mark = folder + "/claimed-" + std::to_string(restart);
    const int fd = ::open(mark.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) {
      ::close(fd);
      return folder;
    }
    if (errno != EEXIST) throw IoError("cannot claim the checkpoint folder", mark, errno);
  }
}

}  // namespace jabas
