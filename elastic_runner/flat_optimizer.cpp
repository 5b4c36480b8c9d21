#include "elastic_runner/flat_optimizer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "allocator/error.h"

namespace jabas {
namespace {

// Elements of a piece. Weights, gradient and two state buffers of float are then 512 KiB.
constexpr std::int64_t kPiece = 32768;

// Consecutive elements that are treated alike.
struct Group {
  std::int64_t begin = 0, end = 0;
  bool decays = false;
};

// As few groups as the decay allows. The gaps between parameters belong to what precedes them.
std::vector<Group> groups_by_decay(const FlatLayout& layout, const std::vector<bool>& decays) {
  std::vector<Group> groups;
  for (std::size_t i = layout.slots.size(); i-- > 0;) {
    const auto& slot = layout.slots[i];
    if (groups.empty() || groups.back().decays != decays[i])
      groups.push_back({slot.offset, 0, decays[i]});
    groups.back().end = i == 0 ? layout.size : layout.slots[i - 1].offset;
  }
  return groups;
}

std::vector<Group> groups_by_parameter(const FlatLayout& layout, const std::vector<bool>& decays) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < layout.slots.size(); ++i) {
    const auto& slot = layout.slots[i];
    groups.push_back({slot.offset, slot.offset + slot.count, decays[i]});
  }
  return groups;
}

// Calls action(begin, size) for the pieces of a group.
template <typename Action>
void for_each_piece(const Group& group, const Action& action) {
  for (std::int64_t begin = group.begin; begin < group.end; begin += kPiece)
    action(begin, std::min(kPiece, group.end - begin));
}

// All parameters decay, or none does: then one group is enough.
std::vector<bool> without_needless_groups(std::vector<bool> decays, double weight_decay) {
  if (weight_decay == 0) decays.assign(decays.size(), false);
  return decays;
}

class Sgd : public FlatOptimizer {
 public:
  Sgd(const OptimizerOptions& options, const at::Tensor& weights, std::vector<Group> groups)
      : options_(options), weights_(weights), groups_(std::move(groups)) {
    state_ = {{"momentum", at::zeros_like(weights)}};
  }

  void step(at::Tensor& gradient, double learning_rate, std::int64_t) override {
    const at::NoGradGuard no_grad;
    for (const Group& group : groups_) {
      for_each_piece(group, [&](std::int64_t begin, std::int64_t size) {
        at::Tensor w = weights_.narrow(0, begin, size), g = gradient.narrow(0, begin, size);
        if (group.decays) g.add_(w, options_.weight_decay);
        if (options_.momentum == 0) {
          w.add_(g, -learning_rate);
          return;
        }
        at::Tensor m = state_[0].flat.narrow(0, begin, size);
        m.mul_(options_.momentum).add_(g);
        if (options_.nesterov) g.add_(m, options_.momentum);
        w.add_(options_.nesterov ? g : m, -learning_rate);
      });
    }
  }

 private:
  const OptimizerOptions options_;
  at::Tensor weights_;
  const std::vector<Group> groups_;
};

// What Adam, AdamW and LAMB share: the averages of the gradient and of its square.
class MomentOptimizer : public FlatOptimizer {
 public:
  MomentOptimizer(const OptimizerOptions& options, const at::Tensor& weights,
                  std::vector<Group> groups)
      : options_(options), weights_(weights), groups_(std::move(groups)) {
    state_ = {{"exp_avg", at::zeros_like(weights)}, {"exp_avg_sq", at::zeros_like(weights)}};
  }

 protected:
  struct Corrections {
    double first = 1, second_root = 1;  // 1 - beta1^t; the root of 1 - beta2^t
  };
  Corrections corrections(std::int64_t step) const {
    const auto t = static_cast<double>(step);
    return {1 - std::pow(options_.beta1, t), std::sqrt(1 - std::pow(options_.beta2, t))};
  }

  at::Tensor weights(std::int64_t begin, std::int64_t size) const {
    return weights_.narrow(0, begin, size);
  }

  // Updates the averages with g and leaves √v̂ + ε in `root`, which may be g. Returns m.
  at::Tensor moments(const at::Tensor& g, std::int64_t begin, const Corrections& by,
                     at::Tensor& root) {
    at::Tensor m = state_[0].flat.narrow(0, begin, g.numel());
    at::Tensor v = state_[1].flat.narrow(0, begin, g.numel());
    m.mul_(options_.beta1).add_(g, 1 - options_.beta1);
    v.mul_(options_.beta2).addcmul_(g, g, 1 - options_.beta2);
    at::sqrt_out(root, v).div_(by.second_root).add_(options_.epsilon);
    return m;
  }

  const OptimizerOptions options_;
  at::Tensor weights_;
  const std::vector<Group> groups_;
};

class Adam : public MomentOptimizer {
 public:
  using MomentOptimizer::MomentOptimizer;

  void step(at::Tensor& gradient, double learning_rate, std::int64_t step) override {
    const at::NoGradGuard no_grad;
    const bool decoupled = options_.name == "adamw";
    const Corrections by = corrections(step);
    for (const Group& group : groups_) {
      for_each_piece(group, [&](std::int64_t begin, std::int64_t size) {
        at::Tensor w = weights(begin, size), g = gradient.narrow(0, begin, size);
        if (group.decays && decoupled) w.mul_(1 - learning_rate * options_.weight_decay);
        if (group.decays && !decoupled) g.add_(w, options_.weight_decay);
        at::Tensor root = root_.narrow(0, 0, size);
        const at::Tensor m = moments(g, begin, by, root);
        w.addcdiv_(m, root, -(learning_rate / by.first));
      });
    }
  }

 private:
  // Stays in the cache; written into the gradient it would go to memory.
  const at::Tensor root_ = at::empty({kPiece}, weights_.options());
};

// Each parameter is a layer of the paper: its step has the length of its weights.
class Lamb : public MomentOptimizer {
 public:
  using MomentOptimizer::MomentOptimizer;

  void step(at::Tensor& gradient, double learning_rate, std::int64_t step) override {
    const at::NoGradGuard no_grad;
    const Corrections by = corrections(step);
    for (const Group& layer : groups_) {
      double weight_sqr = 0, direction_sqr = 0;
      for_each_piece(layer, [&](std::int64_t begin, std::int64_t size) {
        const at::Tensor w = weights(begin, size);
        at::Tensor g = gradient.narrow(0, begin, size);
        const at::Tensor m = moments(g, begin, by, g);
        at::div_out(g, m, g).div_(by.first);
        if (layer.decays) g.add_(w, options_.weight_decay);
        weight_sqr += squared_norm(w);
        direction_sqr += squared_norm(g);
      });
      // A layer of zeros would never leave them: it moves like Adam's.
      const double ratio =
          weight_sqr > 0 && direction_sqr > 0 ? std::sqrt(weight_sqr / direction_sqr) : 1;
      for_each_piece(layer, [&](std::int64_t begin, std::int64_t size) {
        weights(begin, size).add_(gradient.narrow(0, begin, size), -learning_rate * ratio);
      });
    }
  }

 private:
  static double squared_norm(const at::Tensor& values) {
    const double norm = values.norm().item<double>();
    return norm * norm;
  }
};

}  // namespace

std::unique_ptr<FlatOptimizer> make_flat_optimizer(const OptimizerOptions& options,
                                                   const at::Tensor& weights,
                                                   const FlatLayout& layout,
                                                   const std::vector<bool>& decays) {
  const auto used = without_needless_groups(decays, options.weight_decay);
  if (options.name == "sgd")
    return std::make_unique<Sgd>(options, weights, groups_by_decay(layout, used));
  if (options.name == "adam" || options.name == "adamw")
    return std::make_unique<Adam>(options, weights, groups_by_decay(layout, used));
  if (options.name == "lamb")
    return std::make_unique<Lamb>(options, weights, groups_by_parameter(layout, used));
  throw UsageError("--optimizer=" + options.name + ": accepted are sgd, adam, adamw and lamb");
}

}  // namespace jabas
