#include "allocator/share_assignment.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "allocator/error.h"

namespace jabas {
namespace {

// One way to run `workers` on a GPU.
struct Option {
  std::int64_t workers = 0;
  std::int64_t cost = 0;  // total streams before total accumulation steps, as one number
  GpuShare share;
};

struct Edge {  // of the lower hull of a type's options
  std::size_t type = 0, from = 0, to = 0;
  std::int64_t workers = 0, cost = 0;
};

// GPUs of one type to which the relaxation gives the same option.
struct Block {
  std::size_t type = 0, option = 0;
  std::int64_t gpus = 0;
};

// The cheapest share for each number of workers from `least` to `most`, ascending; numbers that no
// share gives are left out. More accumulation steps than workers in total there cannot be.
std::vector<Option> cheapest_options(const ShareLimits& type, std::int64_t least, std::int64_t most,
                                     std::int64_t workers) {
  std::vector<GpuShare> shares(std::size_t(most - least + 1), GpuShare{0, 0});
  for (std::size_t v = type.passes.size(); v >= 1; --v) {
    const auto streams = std::int64_t(v);
    const std::int64_t last = std::min(type.passes[v - 1], most / streams);
    for (std::int64_t passes = (least + streams - 1) / streams; passes <= last; ++passes)
      shares[std::size_t(streams * passes - least)] = {int(streams), int(passes - 1)};
  }
  std::vector<Option> options;
  for (std::int64_t w = least; w <= most; ++w)
    if (const GpuShare& share = shares[std::size_t(w - least)]; share.streams > 0)
      options.push_back({w, share.streams * (workers + 1) + share.accum_steps, share});
  return options;
}

void append_hull(const std::vector<Option>& options, std::size_t type, std::vector<Edge>* edges) {
  std::vector<std::size_t> hull;
  const auto above = [&](std::size_t a, std::size_t b, std::size_t c) {  // b is not below a–c
    return (options[b].cost - options[a].cost) * (options[c].workers - options[a].workers) >=
           (options[c].cost - options[a].cost) * (options[b].workers - options[a].workers);
  };
  for (std::size_t i = 0; i < options.size(); ++i) {
    while (hull.size() > 1 && above(hull[hull.size() - 2], hull.back(), i)) hull.pop_back();
    hull.push_back(i);
  }
  for (std::size_t i = 1; i < hull.size(); ++i) {
    const Option &from = options[hull[i - 1]], &to = options[hull[i]];
    edges->push_back({type, hull[i - 1], hull[i], to.workers - from.workers, to.cost - from.cost});
  }
}

class Assignment {
 public:
  Assignment(const std::vector<ShareLimits>& types, std::int64_t workers) : missing_(workers) {
    std::int64_t too_many = -workers, too_few = workers;
    for (const ShareLimits& type : types) {
      too_many += type.gpus * type.most_workers();
      too_few -= type.gpus * type.least_workers();
    }
    for (const ShareLimits& type : types)
      options_.push_back(
          cheapest_options(type, std::max(type.least_workers(), type.most_workers() - too_many),
                           std::min(type.most_workers(), type.least_workers() + too_few), workers));
    relax(types);
  }

  std::vector<std::vector<GpuShare>> shares() {
    std::vector<std::vector<GpuShare>> result(options_.size());
    correct(&result);
    for (const Block& block : blocks_)
      result[block.type].insert(result[block.type].end(), std::size_t(block.gpus),
                                options_[block.type][block.option].share);
    for (std::vector<GpuShare>& shares : result)
      std::sort(shares.begin(), shares.end(), [](const GpuShare& a, const GpuShare& b) {
        return std::tuple(a.workers(), b.streams) > std::tuple(b.workers(), a.streams);
      });
    return result;
  }

 private:
  // Fills blocks_; missing_ workers are left, fewer than the last edge has.
  void relax(const std::vector<ShareLimits>& types) {
    std::vector<Edge> edges;
    for (std::size_t t = 0; t < types.size(); ++t) {
      append_hull(options_[t], t, &edges);
      blocks_.push_back({t, 0, types[t].gpus});
      missing_ -= types[t].gpus * options_[t].front().workers;
    }
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
      const std::int64_t left = a.cost * b.workers, right = b.cost * a.workers;
      return left != right ? left < right : std::tie(a.type, a.from) < std::tie(b.type, b.from);
    });
    for (const Edge& edge : edges) {
      if (missing_ == 0) return;
      slope_ = edge;
      Block& block = blocks_[edge.type];
      const std::int64_t gpus = std::min(block.gpus, missing_ / edge.workers);
      missing_ -= gpus * edge.workers;
      if (gpus == block.gpus) {
        block.option = edge.to;
        continue;
      }
      block.gpus -= gpus;
      if (gpus > 0) blocks_.push_back({edge.type, edge.to, gpus});
      return;
    }
  }

  std::int64_t difference(const Block& block, const Option& option) const {
    return option.workers - options_[block.type][block.option].workers;
  }
  // Against the block's own option, at the price of the last edge; never below 0.
  std::int64_t reduced_cost(const Block& block, const Option& option) const {
    return (option.cost - options_[block.type][block.option].cost) * slope_.workers -
           slope_.cost * difference(block, option);
  }

  // Gives some GPUs of the blocks another option so that nothing is missing. What two of each block
  // can do bounds the cost, so that few options are left for the search that is exact.
  void correct(std::vector<std::vector<GpuShare>>* result) {
    if (missing_ == 0) return;
    for (const Block& block : blocks_) {
      up_ = std::max(up_, difference(block, options_[block.type].back()));
      down_ = std::max(down_, -difference(block, options_[block.type].front()));
    }
    JABAS_ASSERT(up_ + down_ > 0, "a sum has an assignment");
    const std::int64_t most_gpus = std::max<std::int64_t>(up_ + down_ - 1, 1);
    Search search = searched(std::min(most_gpus, kFewGpus), kNone);
    if (most_gpus > kFewGpus) search = searched(most_gpus, search.cost);
    JABAS_ASSERT(search.cost != kNone, "a sum has an assignment");
    std::int64_t sum = missing_ - search.lowest;
    for (std::size_t i = search.layers.size(); i-- > 0;) {
      const std::int32_t choice = search.layers[i].choice[std::size_t(sum)];
      if (choice == kKept) continue;
      Block& block = blocks_[search.layers[i].block];
      const Option& option = options_[block.type][std::size_t(choice)];
      (*result)[block.type].push_back(option.share);
      sum -= difference(block, option);
      --block.gpus;
    }
  }

  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max(), kFewGpus = 2;
  static constexpr std::int32_t kKept = -1;
  struct Layer {  // one GPU more of a block: its option by sum, or kKept
    std::size_t block = 0;
    std::vector<std::int32_t> choice;
  };
  struct Search {
    std::int64_t lowest = 0;  // sum of the first entry of a layer
    std::int64_t cost = 0;    // reduced, kNone if there is no solution
    std::vector<Layer> layers;
  };

  // The least reduced cost with which `most_gpus` GPUs can make up for what is missing; above
  // `bound` it does not matter.
  Search searched(std::int64_t most_gpus, std::int64_t bound) const {
    // All that goes up is what is missing and what goes down, in GPUs and in workers.
    std::int64_t highest = up_ * (most_gpus * down_ + missing_) / (up_ + down_);
    std::int64_t all_up = 0, all_down = 0;
    for (const Block& block : blocks_) {
      const std::int64_t gpus = std::min(block.gpus, most_gpus);
      all_up += gpus * difference(block, options_[block.type].back());
      all_down -= gpus * difference(block, options_[block.type].front());
    }
    highest = std::max(std::min({highest, all_up, all_down + missing_}), missing_);
    Search search{missing_ - highest, kNone, {}};

    std::vector<std::int64_t> cost(std::size_t(highest - search.lowest + 1), kNone);
    cost[std::size_t(-search.lowest)] = 0;
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (std::int64_t gpu = 0; gpu < std::min(blocks_[b].gpus, most_gpus); ++gpu) {
        Layer layer{b, std::vector<std::int32_t>(cost.size(), kKept)};
        std::vector<std::int64_t> next = cost;
        add_gpu(blocks_[b], cost, bound, &next, &layer.choice);
        if (next == cost) break;  // nor would more GPUs of the block help
        cost = std::move(next);
        search.layers.push_back(std::move(layer));
      }
    search.cost = cost[std::size_t(missing_ - search.lowest)];
    return search;
  }

  void add_gpu(const Block& block, const std::vector<std::int64_t>& cost, std::int64_t bound,
               std::vector<std::int64_t>* next, std::vector<std::int32_t>* choice) const {
    const std::vector<Option>& options = options_[block.type];
    for (std::size_t o = 0; o < options.size(); ++o) {
      const std::int64_t shift = difference(block, options[o]);
      const std::int64_t own = reduced_cost(block, options[o]);
      if (own > bound) continue;
      const std::int64_t first = std::max<std::int64_t>(0, -shift);
      const std::int64_t end = std::int64_t(cost.size()) - std::max<std::int64_t>(0, shift);
      for (std::int64_t sum = first; sum < end; ++sum) {
        const std::int64_t before = cost[std::size_t(sum)];
        if (before > bound - own || before == kNone) continue;
        std::int64_t& after = (*next)[std::size_t(sum + shift)];
        if (before + own >= after) continue;
        after = before + own;
        (*choice)[std::size_t(sum + shift)] = std::int32_t(o);
      }
    }
  }

  std::vector<std::vector<Option>> options_;  // by type
  std::vector<Block> blocks_;
  std::int64_t missing_ = 0;
  std::int64_t up_ = 0, down_ = 0;  // largest difference of one GPU
  Edge slope_;
};

}  // namespace

std::vector<std::vector<GpuShare>> fewest_streams(const std::vector<ShareLimits>& types,
                                                  std::int64_t workers) {
  return Assignment(types, workers).shares();
}

}  // namespace jabas
