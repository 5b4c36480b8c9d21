// Measures all-reduces for a profile: inside this node between two ranks of this process, and
// across nodes between processes that one srun started.
// Units: bytes, seconds.   Errors: CommError, IoError.
#pragma once

#include <string>
#include <vector>

#include "allocator/profile.h"
#include "elastic_runner/runner_backends.h"

namespace jabas {

// Sizes worth measuring for these buckets, ascending: theirs, and a quarter and four times the
// largest, so that a line through them means something.
std::vector<double> probe_sizes(const std::vector<double>& bucket_bytes);

// Median seconds by size, of `repeats` after some that warm up; every rank calls it alike.
std::vector<double> time_all_reduces(Communicator& communicator, const std::vector<double>& sizes,
                                     int repeats);

// The bandwidth is that of the largest size, by the profile's definition: ideal seconds =
// 4(n−1)/n · bytes / bandwidth.
CommunicationProfile network_of(const std::vector<double>& sizes,
                                const std::vector<double>& seconds, int gpus);

CommunicationProfile measure_inside_node(const RunnerBackends& backends,
                                         const std::vector<double>& sizes, int repeats);

// Where an srun task stands among the others.
struct TaskPlace {
  int rank = 0, tasks = 1, nodes = 1;
  std::string address;  // data ports bind to it
};
// `directory`: all tasks see it, and it is this probe's alone; removed afterwards.
CommunicationProfile measure_across_nodes(const RunnerBackends& backends, const TaskPlace& place,
                                          const std::string& directory,
                                          const std::vector<double>& sizes, int repeats);

}  // namespace jabas
