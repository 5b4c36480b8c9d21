// Where each parameter lies in the flat weight and gradient buffers, and which bucket its gradient
// is reduced with.
//
// Parameters lie in reverse registration order, since backward produces gradients roughly in that
// order: bucket 0 is complete first. Offsets are multiples of 16 elements (vector width); the gaps
// stay zero. Units: elements, unless the name says bytes.   Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace jabas {

struct FlatLayout {
  struct Slot {
    std::int64_t offset = 0, count = 0;
    int bucket = 0;
  };
  struct Bucket {
    std::int64_t begin = 0, end = 0;
    int parameters = 0;
  };
  std::vector<Slot> slots;      // by registration index
  std::vector<Bucket> buckets;  // consecutive, covering [0, size)
  std::int64_t size = 0;
};

// A bucket is closed once it holds half of bucket_bytes, the first already at a sixteenth so that
// the communication starts early: between half and one bucket_bytes per bucket, more only for a
// single large parameter.
FlatLayout make_flat_layout(const std::vector<std::int64_t>& parameter_counts,
                            std::int64_t element_bytes, std::int64_t bucket_bytes);

}  // namespace jabas
