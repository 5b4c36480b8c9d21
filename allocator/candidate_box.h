// What the search for the best sets keeps: boxes of sets that are still open, by the best place
// that a set in them could have, and the best places found. Pure.
#pragma once

#include <compare>
#include <cstddef>
#include <limits>
#include <queue>
#include <vector>

#include "allocator/objective.h"
#include "allocator/set_evaluator.h"

namespace jabas {

// Where a set stands: its rank, then, as in rank(), time and money.
struct Place {
  Rank rank;
  double rest_s = 0, rest_cost = 0;
  auto operator<=>(const Place&) const = default;
};

// Below every set.
constexpr Place nowhere() { return {{9, std::numeric_limits<double>::infinity()}, 0, 0}; }

struct Box {
  Counts lo, hi;  // steps of a unit above each range's first
  double sets() const {
    double product = 1;
    for (std::size_t t = 0; t < lo.size(); ++t) product *= hi[t] - lo[t] + 1;
    return product;
  }
};

struct Open {
  Place bound;
  Box box;
  PriceBand prices;     // only its sets with such a price are open
  bool tabled = false;  // the bound is the closer one
};
struct Later {
  bool operator()(const Open& a, const Open& b) const { return b.bound < a.bound; }
};

using OpenBoxes = std::priority_queue<Open, std::vector<Open>, Later>;

// The `count` best places.
class BestPlaces {
 public:
  explicit BestPlaces(std::size_t count) : count_(count) {}
  void add(const Place& place) {
    best_.push(place);
    if (best_.size() > count_) best_.pop();
  }
  // The last of them; nowhere while there are fewer.
  Place cutoff() const { return best_.size() < count_ ? nowhere() : best_.top(); }

 private:
  std::size_t count_;
  std::priority_queue<Place> best_;  // the worst of the best on top
};

}  // namespace jabas
