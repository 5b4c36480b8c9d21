// Checkpoints of a run in one folder: written whole or not at all, verified before use, the newest
// good one found.
//
// Layout: <dir>/checkpoint-<sequence, 6 digits>/ with state.safetensors (all StateTensors),
//         run.json (RunState and the training it belongs to) and manifest.json
//         {"jabas_checkpoint":1,"files":{NAME:{"bytes","crc64"}}}, written as <dir>/tmp-…, every
//         file fsynced, then renamed. Sequence numbers only grow: the newest is the highest.
// Ownership: one writing process at a time (rank 0).
// Errors: find_newest skips torn and corrupt ones with a note and throws InputError for another
//         version, another training, or if none is usable; write throws IoError and leaves nothing
//         under a final name.
#pragma once

#include <string>
#include <vector>

#include "allocator/training_spec.h"
#include "elastic_runner/iidp_engine.h"
#include "elastic_runner/run_state.h"

namespace jabas {

constexpr int kCheckpointVersion = 1;

// What a checkpoint must share with the training that resumes from it (model, data, precision,
// optimizer), as text.
std::string training_identity(const TrainingSpec& spec);

struct CheckpointFound {
  std::string path;  // of the checkpoint's folder
  RunState state;
  std::vector<std::string> notes;  // one line per skipped checkpoint
};

class CheckpointStore {
 public:
  CheckpointStore(std::string directory, int keep);
  // Writes the next checkpoint and removes those beyond `keep`. Returns its path.
  std::string write(const std::vector<StateTensor>& tensors, const RunState& state,
                    const std::string& identity);

 private:
  std::string directory_;
  int keep_;
};

CheckpointFound find_newest_checkpoint(const std::string& directory, const std::string& identity);
// True if the folder has anything under a checkpoint's final name.
bool has_checkpoints(const std::string& directory);
// Copies the checkpoint's tensors into the engine's memory.
void load_checkpoint_tensors(const CheckpointFound& found, const std::vector<StateTensor>& tensors);

}  // namespace jabas
