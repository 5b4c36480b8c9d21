// The certificate of a search: how it is known that no candidate is better (docs/profile.md). Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "allocator/objective.h"

namespace jabas {

struct SearchProof {
  double candidates = 0;
  std::size_t predicted = 0, boxes = 0;
  bool cut_short = false;
  // Where the order depends on the fastest set and the search for it was cut short.
  struct Fastest {
    double found_s = 0, least_s = 0;  // no set is faster than least_s
  };
  std::optional<Fastest> fastest;
  Rank left;                 // no set that was not predicted ranks better
  std::optional<Rank> last;  // of the best sets, at `place`
  std::size_t place = 0;
  bool exhaustive = false;
};
std::string to_text(const SearchProof& proof);

}  // namespace jabas
