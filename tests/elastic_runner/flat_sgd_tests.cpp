#include <torch/torch.h>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "elastic_runner/flat_layout.h"
#include "elastic_runner/flat_sgd.h"

namespace jabas {

BOOST_AUTO_TEST_SUITE(flat_sgd_tests)

BOOST_DATA_TEST_CASE(gives_the_bits_of_torch_optim_sgd,
                     boost::unit_test::data::make({0.0, 0.9}) *
                         boost::unit_test::data::make({0, 1}),
                     momentum, precise) {
  const auto type = precise ? torch::kDouble : torch::kFloat;
  torch::manual_seed(7);
  // Odd sizes: the last elements of a parameter are outside of full vectors there and inside of
  // them in the flat buffer.
  const std::vector<std::int64_t> counts = {1000, 1, 37, 16, 4099};
  const FlatLayout layout = make_flat_layout(counts, 4, 1 << 20);
  std::vector<torch::Tensor> parameters;
  torch::Tensor weights = torch::zeros({layout.size}, type);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    parameters.push_back(torch::randn({counts[i]}, type).requires_grad_(true));
    weights.narrow(0, layout.slots[i].offset, counts[i]).copy_(parameters[i].detach());
  }
  torch::optim::SGD reference(parameters, torch::optim::SGDOptions(0.1).momentum(momentum));
  FlatSgd flat(weights);
  for (int step = 0; step < 20; ++step) {
    const double learning_rate = 0.1 / (1 + step);
    torch::Tensor gradient = torch::zeros({layout.size}, type);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      parameters[i].mutable_grad() = torch::randn({counts[i]}, type);
      gradient.narrow(0, layout.slots[i].offset, counts[i]).copy_(parameters[i].grad());
    }
    static_cast<torch::optim::SGDOptions&>(reference.param_groups()[0].options()).lr(learning_rate);
    reference.step();
    flat.step(gradient, learning_rate, momentum);
  }
  for (std::size_t i = 0; i < counts.size(); ++i)
    BOOST_TEST(
        torch::equal(weights.narrow(0, layout.slots[i].offset, counts[i]), parameters[i].detach()),
        "parameter " << i);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
