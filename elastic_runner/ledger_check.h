// Checks the ledgers of all workers of a run: does each epoch name every training sample exactly
// once among committed steps?
//
// Which reads count: those of (generation, step) that any worker marked committed, unless a NEWER
// generation trained that step or an earlier one again. Generations only grow, and each goes on
// after the step its state came from; so when generation g begins at step s, everything older
// generations did from step s on was taken back: a step committed only by a rank that died with
// it, or all that followed a checkpoint from which the run was resumed (with other batch sizes the
// repeated epoch has other step numbers, so the single step is not enough).
// Hence (g′, t) counts iff it is committed and no generation g > g′ has a committed step ≤ t.
// Epochs from the first to the last one seen are checked; an epoch that was not finished shows its
// samples as missing.
// Errors: InputError naming file and line (no ledger, other version, broken line that is not the
//         last, different sizes).
#pragma once

#include <string>
#include <vector>

namespace jabas {

struct LedgerReport {
  std::vector<std::string> problems;  // one line per missing, double or unknown sample
  std::string summary;
};
LedgerReport check_ledger(const std::string& directory);

// The highest generation in the ledgers of a folder; 0 if there is none.
int last_ledger_generation(const std::string& directory);

}  // namespace jabas
