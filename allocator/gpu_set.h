// Counts of GPUs by type: what a run holds, wants, may have, or sees free.
// A type is Slurm's GRES type (case-sensitive). Counts are whole GPUs and never negative.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace jabas {

using GpuCounts = std::map<std::string, int>;  // type -> GPUs; a type with 0 may be absent

int total(const GpuCounts& gpus);
// Of one type; 0 when it is absent.
int count_of(const GpuCounts& gpus, const std::string& type);
// Drops zero entries, so that equal sets compare equal.
GpuCounts normalized(GpuCounts gpus);
// "2×p100 + 1×v100"; "none" when empty.
std::string to_text(const GpuCounts& gpus);
// "p100:2,v100:1"; "" when empty. The form used in tables and on command lines.
std::string to_list(const GpuCounts& gpus);

// What the user allows for one type (--jabas-gpus=TYPE:MIN-MAX).
struct GpuLimit {
  std::string type;
  int min = 0;
  int max = 0;
};

}  // namespace jabas
