// Where a `train` of a batch script keeps its checkpoints: <run dir>/checkpoints/run-<k>/ for the
// k-th `train` of the script. After a requeue the script starts again and its k-th `train` finds
// the folder of its earlier life.
//
// A folder is claimed once per restart by creating `claimed-<restart>` in it, so that the second
// `train` of a script does not take the first one's checkpoints.
#pragma once

#include <string>

namespace jabas {

// Creates and claims the folder. IoError naming the path.
std::string claim_checkpoint_folder(const std::string& run_dir, int restart);

}  // namespace jabas
