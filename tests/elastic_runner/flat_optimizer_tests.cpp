#include <torch/torch.h>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "allocator/error.h"
#include "elastic_runner/flat_layout.h"
#include "elastic_runner/flat_optimizer.h"

namespace jabas {
namespace {

namespace optim = torch::optim;

// Odd sizes: the last elements of a parameter are outside of full vectors there and inside of them
// in the flat buffer. One is longer than a piece.
const std::vector<std::int64_t> kCounts = {1000, 1, 37, 16, 70001, 5, 4099};
const std::vector<bool> kDecays = {true, false, true, true, true, false, false};
constexpr int kSteps = 20;

double learning_rate_of(int step) { return 0.1 / (1 + step); }

OptimizerOptions options_of(const std::string& name, double weight_decay) {
  OptimizerOptions options;
  options.name = name;
  options.weight_decay = weight_decay;
  return options;
}

// The same weights and gradients as separate parameters and in a flat buffer.
class Twins {
 public:
  explicit Twins(torch::ScalarType type) : layout(make_flat_layout(kCounts, 4, 1 << 16)) {
    torch::manual_seed(7);
    flat = torch::zeros({layout.size}, type);
    for (std::size_t i = 0; i < kCounts.size(); ++i) {
      parameters.push_back(torch::randn({kCounts[i]}, type).requires_grad_(true));
      part(flat, i).copy_(parameters[i].detach());
    }
  }
  // A new gradient for both; the flat one is returned.
  torch::Tensor next_gradient() {
    torch::Tensor gradient = torch::zeros_like(flat);
    for (std::size_t i = 0; i < kCounts.size(); ++i) {
      parameters[i].mutable_grad() = torch::randn({kCounts[i]}, flat.options());
      part(gradient, i).copy_(parameters[i].grad());
    }
    return gradient;
  }
  torch::Tensor part(const torch::Tensor& whole, std::size_t i) const {
    return whole.narrow(0, layout.slots[i].offset, kCounts[i]);
  }
  std::vector<torch::Tensor> group(bool decays) const {
    std::vector<torch::Tensor> result;
    for (std::size_t i = 0; i < kCounts.size(); ++i)
      if (kDecays[i] == decays) result.push_back(parameters[i]);
    return result;
  }

  FlatLayout layout;
  std::vector<torch::Tensor> parameters;
  torch::Tensor flat;
};

// Two groups of `Options`, the second without weight decay.
template <typename Optimizer, typename Options>
void same_bits(const OptimizerOptions& flat_options, const Options& options,
               torch::ScalarType type) {
  Twins twins(type);
  Options no_decay = options;
  no_decay.weight_decay(0);
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(twins.group(true), std::make_unique<Options>(options));
  groups.emplace_back(twins.group(false), std::make_unique<Options>(no_decay));
  Optimizer reference(groups, options);
  const auto flat = make_flat_optimizer(flat_options, twins.flat, twins.layout, kDecays);
  for (int step = 0; step < kSteps; ++step) {
    torch::Tensor gradient = twins.next_gradient();
    for (auto& group : reference.param_groups())
      static_cast<Options&>(group.options()).lr(learning_rate_of(step));
    reference.step();
    flat->step(gradient, learning_rate_of(step), step + 1);
  }
  for (std::size_t i = 0; i < kCounts.size(); ++i)
    BOOST_TEST(torch::equal(twins.part(twins.flat, i), twins.parameters[i].detach()),
               flat_options.name << ", parameter " << i);
}

// The formulas of algorithm 2 (You et al. 2020) for one layer, element by element, in double.
struct PaperLamb {
  std::vector<double> x, m, v;
  void step(const std::vector<double>& g, double rate, double decay, double epsilon, int t) {
    const double beta1 = 0.9, beta2 = 0.999;
    std::vector<double> update(x.size());
    double x_norm = 0, update_norm = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      m[i] = beta1 * m[i] + (1 - beta1) * g[i];
      v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
      const double m_hat = m[i] / (1 - std::pow(beta1, t)), v_hat = v[i] / (1 - std::pow(beta2, t));
      update[i] = m_hat / (std::sqrt(v_hat) + epsilon) + decay * x[i];
      x_norm += x[i] * x[i];
      update_norm += update[i] * update[i];
    }
    const double ratio = std::sqrt(x_norm) / std::sqrt(update_norm);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= rate * ratio * update[i];
  }
};

std::vector<double> values(const torch::Tensor& tensor) {
  const torch::Tensor wide = tensor.to(torch::kDouble).contiguous();
  return {wide.data_ptr<double>(), wide.data_ptr<double>() + wide.numel()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(flat_optimizer_tests)

BOOST_DATA_TEST_CASE(sgd_gives_the_bits_of_torch,
                     boost::unit_test::data::make({0.0, 0.9}) *
                         boost::unit_test::data::make({0.0, 0.05}) *
                         boost::unit_test::data::make({false, true}) *
                         boost::unit_test::data::make({false, true}),
                     momentum, decay, nesterov, precise) {
  if (nesterov && momentum == 0) return;
  OptimizerOptions options = options_of("sgd", decay);
  options.momentum = momentum;
  options.nesterov = nesterov;
  same_bits<optim::SGD>(
      options, optim::SGDOptions(1).momentum(momentum).nesterov(nesterov).weight_decay(decay),
      precise ? torch::kDouble : torch::kFloat);
}

BOOST_DATA_TEST_CASE(adam_and_adamw_give_the_bits_of_torch,
                     boost::unit_test::data::make({0.0, 0.05}) *
                         boost::unit_test::data::make({false, true}),
                     decay, precise) {
  const auto type = precise ? torch::kDouble : torch::kFloat;
  same_bits<optim::Adam>(options_of("adam", decay), optim::AdamOptions().weight_decay(decay), type);
  same_bits<optim::AdamW>(options_of("adamw", decay), optim::AdamWOptions().weight_decay(decay),
                          type);
  OptimizerOptions other = options_of("adamw", decay);
  other.beta1 = 0.8;
  other.beta2 = 0.95;
  other.epsilon = 1e-4;
  same_bits<optim::AdamW>(
      other, optim::AdamWOptions().weight_decay(decay).betas({0.8, 0.95}).eps(1e-4), type);
}

BOOST_DATA_TEST_CASE(lamb_follows_the_formulas_of_its_paper,
                     boost::unit_test::data::make({0.0, 0.05}) *
                         boost::unit_test::data::make({false, true}),
                     decay, precise) {
  Twins twins(precise ? torch::kDouble : torch::kFloat);
  OptimizerOptions options = options_of("lamb", decay);
  options.epsilon = 1e-6;
  const auto flat = make_flat_optimizer(options, twins.flat, twins.layout, kDecays);
  std::vector<PaperLamb> layers;
  for (const auto& parameter : twins.parameters) {
    const auto size = static_cast<std::size_t>(parameter.numel());
    layers.push_back(
        {values(parameter.detach()), std::vector<double>(size), std::vector<double>(size)});
  }
  for (int step = 0; step < kSteps; ++step) {
    torch::Tensor gradient = twins.next_gradient();
    for (std::size_t i = 0; i < layers.size(); ++i)
      layers[i].step(values(twins.parameters[i].grad()), learning_rate_of(step),
                     kDecays[i] ? decay : 0, options.epsilon, step + 1);
    flat->step(gradient, learning_rate_of(step), step + 1);
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto found = values(twins.part(twins.flat, i));
    double worst = 0;
    for (std::size_t k = 0; k < found.size(); ++k)
      worst = std::max(worst, std::abs(found[k] - layers[i].x[k]));
    BOOST_TEST(worst <= (precise ? 1e-12 : 1e-5), "parameter " << i << ": " << worst);
  }
}

// A bias that starts at zero has no length to scale its step by.
BOOST_AUTO_TEST_CASE(lamb_moves_a_layer_of_zeros_like_adam) {
  const FlatLayout layout = make_flat_layout({8}, 8, 1 << 16);
  torch::Tensor weights = torch::zeros({layout.size}, torch::kDouble);
  torch::Tensor gradient = torch::zeros({layout.size}, torch::kDouble);
  gradient.narrow(0, 0, 8).fill_(3);
  make_flat_optimizer(options_of("lamb", 0), weights, layout, {true})->step(gradient, 0.5, 1);
  BOOST_TEST(weights[0].item<double>() == -0.5, boost::test_tools::tolerance(1e-7));
}

BOOST_AUTO_TEST_CASE(gaps_between_the_parameters_stay_zero) {
  for (const char* name : {"sgd", "adam", "adamw", "lamb"}) {
    Twins twins(torch::kFloat);
    const auto flat = make_flat_optimizer(options_of(name, 0.1), twins.flat, twins.layout, kDecays);
    for (int step = 1; step <= 3; ++step) {
      torch::Tensor gradient = twins.next_gradient();
      flat->step(gradient, 0.1, step);
    }
    for (std::size_t i = 0; i < kCounts.size(); ++i) twins.part(twins.flat, i).zero_();
    BOOST_TEST(twins.flat.abs().max().item<float>() == 0, name);
  }
}

BOOST_AUTO_TEST_CASE(the_state_is_all_that_is_kept_between_steps) {
  for (const char* name : {"sgd", "adam", "adamw", "lamb"}) {
    Twins one(torch::kFloat), other(torch::kFloat);
    const auto first = make_flat_optimizer(options_of(name, 0.1), one.flat, one.layout, kDecays);
    torch::Tensor gradient = one.next_gradient();
    first->step(gradient, 0.1, 1);
    const auto second =
        make_flat_optimizer(options_of(name, 0.1), other.flat, other.layout, kDecays);
    other.flat.copy_(one.flat);
    BOOST_TEST_REQUIRE(first->state().size() == second->state().size());
    for (std::size_t i = 0; i < first->state().size(); ++i)
      torch::Tensor(second->state()[i].flat).copy_(first->state()[i].flat);
    gradient = one.next_gradient();
    torch::Tensor same = gradient.clone();
    first->step(gradient, 0.1, 2);
    second->step(same, 0.1, 2);
    BOOST_TEST(torch::equal(one.flat, other.flat), name);
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_name_lists_the_known_ones) {
  const FlatLayout layout = make_flat_layout({8}, 4, 1 << 16);
  BOOST_CHECK_EXCEPTION(
      make_flat_optimizer(options_of("adagrad", 0), torch::zeros({layout.size}), layout, {true}),
      UsageError, [](const UsageError& error) {
        return std::string(error.what()) ==
               "--optimizer=adagrad: accepted are sgd, adam, adamw and lamb";
      });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
