// Imports the measured steps published with Sia (SOSP 2023): one file placements-CLUSTER.csv per
// GPU type with the columns placement, local_bsz, step_time, sync_time in any order. A placement
// has one digit per node, its GPUs: "44" is 8 GPUs on 2 nodes.
// The rule (shared design "model" 4): compute(b) = median over placements of step − sync, never
// falling in b; what a step takes beyond it is exposed sync, fitted per local batch, inside and
// across nodes apart. One virtual worker per GPU.
// Errors: IoError; InputError naming file, line, column and value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocator/csv_table.h"
#include "allocator/profile.h"

namespace jabas {

// One row. Units: seconds.
struct SiaStep {
  int gpus = 1, nodes = 1, largest_node = 1;
  std::int64_t local_batch = 1;
  double step_s = 0, sync_s = 0;
};
std::vector<SiaStep> read_sia_steps(const CsvTable& table);

// The type that the steps of one file describe; at least one step. `name` is the file's, for
// errors.
TypeProfile sia_type(const std::vector<SiaStep>& steps, const std::string& name);

// How well a file's steps are predicted from what was imported.
struct SiaFit {
  std::string file;
  std::size_t rows = 0;
  double median_error = 0, high_error = 0;  // relative; half and 9 of 10 rows are not above
};

struct SiaImport {
  Profile profile;  // the model is named like the folder, types like the clusters
  std::vector<SiaFit> fits;
};
SiaImport import_sia(const std::string& folder);

}  // namespace jabas
