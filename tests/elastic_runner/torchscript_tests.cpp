// TorchScript files: what is trained, what is refused.
#include <ATen/ATen.h>

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "allocator/error.h"
#include "elastic_runner/batch_loader.h"
#include "elastic_runner/models.h"
#include "elastic_runner/pass_random.h"
#include "tests/elastic_runner/engine_fixture.h"
#include "tests/elastic_runner/script_module.h"
#include "tests/support/temp_dir.h"

namespace jabas {
namespace {

using namespace testing;

struct Fixture : EngineFixture {
  std::string save(const torch::jit::Module& module) const {
    const std::string path = directory.path() + "/" + std::to_string(++files) + ".pt";
    module.save(path);
    return path;
  }
  EngineOptions script(const std::string& precision,
                       const torch::jit::Module& module = script_module()) const {
    auto result = options("cnn", precision);
    result.model = save(module);
    return result;
  }
  // The error's text behind the path.
  std::string refusal(const EngineOptions& options) const {
    try {
      const auto communicator = solo();
      make_iidp_engine(options)->train_step(plan_for({{1, 0}}, 0, {consecutive({4})}, 1),
                                            *communicator);
    } catch (const Error& error) {
      const std::string message = error.what();
      return message.starts_with(options.model) ? message.substr(options.model.size()) : message;
    }
    return "";
  }

  TempDir directory;
  mutable int files = 0;
};

const std::vector<Slices> kSteps = {consecutive({4, 4, 4, 4}), consecutive({4, 4, 4, 4}, 16),
                                    consecutive({4, 3, 3}, 32), consecutive({4, 4, 4, 4}, 42)};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(torchscript_tests, Fixture)

// Dropout draws by virtual worker, and the buffers are virtual worker 0's: the placement is unseen.
BOOST_AUTO_TEST_CASE(the_placement_changes_nothing) {
  const auto options = script("fp64");
  const auto reference = train(options, {{4, 0}}, kSteps);
  for (const Placement& placement : {Placement{{1, 3}}, Placement{{2, 0}, {2, 0}},
                                     Placement{{2, 1}}, Placement{{3, 0}, {1, 0}}}) {
    const auto result = train(options, placement, kSteps);
    BOOST_TEST(difference(result.states[0], reference.states[0]) <= 1e-12);
  }
  auto other = options;
  other.seed = 1;  // other dropout masks
  BOOST_TEST(difference(train(other, {{4, 0}}, kSteps).states[0], reference.states[0]) > 1e-3);
}

BOOST_AUTO_TEST_CASE(it_learns_and_its_buffers_move) {
  const auto options = script("fp32");
  const auto communicator = solo();
  const auto engine = make_iidp_engine(options);
  engine->configure(2, 0, 16);
  const auto begin = copy_state(*engine);
  const Evaluation before = engine->evaluate(0, 1);
  for (int step = 0; step < 60; ++step)
    engine->train_step(plan_for({{2, 0}}, 0, consecutive({16, 16}, step * 32 % 288), step + 1),
                       *communicator);
  const Evaluation after = engine->evaluate(0, 1);
  BOOST_TEST(after.loss_sum < before.loss_sum * 0.7);
  const auto end = copy_state(*engine);
  BOOST_TEST((begin.at("buffer/running_mean") != end.at("buffer/running_mean")));
  BOOST_TEST(end.count("weight/weight1") == 1u);
  // Evaluation mode: the same twice, in spite of the dropout.
  BOOST_TEST(engine->evaluate(0, 1).loss_sum == after.loss_sum);
}

BOOST_AUTO_TEST_CASE(tied_parameters_are_trained_once) {
  const auto module = script_module(R"(
def forward(self, x):
    y = torch.tanh(torch.matmul(torch.flatten(x, 1), self.weight1.t()))
    z = torch.matmul(y, self.weight1)
    return torch.matmul(torch.tanh(torch.matmul(z, self.tied.t())), self.weight2.t())
)");
  const auto engine = make_iidp_engine(script("fp64", module));
  const auto state = copy_state(*engine);
  BOOST_TEST(state.count("weight/weight1") + state.count("weight/tied") == 1u);
  // The gradient is that of both uses.
  const auto one = train(script("fp64", module), {{1, 0}}, {consecutive({8})});
  const auto two = train(script("fp64", module), {{2, 0}}, {consecutive({4, 4})});
  BOOST_TEST(difference(one.states[0], two.states[0]) <= 1e-12);
}

BOOST_AUTO_TEST_CASE(its_own_loss_and_the_labels_are_used) {
  const auto module = script_module(R"(
def forward(self, x, labels):
    y = torch.matmul(torch.tanh(torch.matmul(torch.flatten(x, 1), self.weight1.t())), self.weight2.t())
    return torch.cross_entropy_loss(y, labels)
)");
  auto own = script("fp64", module);
  own.loss = "own";
  const auto outside = script_module(R"(
def forward(self, x):
    return torch.matmul(torch.tanh(torch.matmul(torch.flatten(x, 1), self.weight1.t())), self.weight2.t())
)");
  const auto first = train(own, {{2, 1}}, kSteps);
  const auto second = train(script("fp64", outside), {{2, 1}}, kSteps);
  BOOST_TEST(difference(first.states[0], second.states[0]) <= 1e-12);
  BOOST_TEST(make_iidp_engine(own)->evaluate(0, 1).correct < 0);
}

BOOST_AUTO_TEST_CASE(parameters_without_gradient_stay) {
  auto module = script_module();
  module.attr("weight1").toTensor().requires_grad_(false);
  const auto state = copy_state(*make_iidp_engine(script("fp32", module)));
  BOOST_TEST(state.count("weight/weight1") == 0u);
  BOOST_TEST(state.count("weight/weight2") == 1u);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_trained_is_refused_with_the_reason) {
  auto options = script("fp32");
  options.model = directory.path() + "/none.pt";
  BOOST_TEST(refusal(options).starts_with(": not a TorchScript file: "), refusal(options));
  std::ofstream(options.model) << "text";
  BOOST_TEST(refusal(options).starts_with(": not a TorchScript file: "), refusal(options));

  torch::jit::Module empty("Empty");
  empty.define("def forward(self, x):\n    return x\n");
  BOOST_TEST(refusal(script("fp32", empty)) ==
             ": cannot be trained: it has no parameters: it was frozen (torch.jit.freeze, "
             "optimize_for_inference); save the module before that");
  BOOST_TEST(
      refusal(script("fp32", script_module(R"(
def forward(self, x):
    y = torch.dropout(torch.matmul(torch.flatten(x, 1), self.weight1.t()), 0.5, False)
    return torch.matmul(y, self.weight2.t())
)"))) ==
      ": cannot be trained: it was traced in evaluation mode, so that dropout and BatchNorm would "
      "not train; call train() before torch.jit.trace, or use torch.jit.script");
  BOOST_TEST(refusal(script("fp32", script_module(R"(
def forward(self, x, y):
    return torch.matmul(torch.flatten(x, 1), self.weight1.t()) + y
)"))) == ": cannot be trained: its forward takes 2 tensors, this training gives it 1");
  const auto wrong = script("fp32", script_module(R"(
def forward(self, x):
    return torch.matmul(x, self.weight1)
)"));
  BOOST_TEST(refusal(wrong).starts_with(": its forward failed: "), refusal(wrong));
  options = script("fp32");
  options.loss = "hinge";
  BOOST_TEST(refusal(options) == "--loss=hinge: accepted are cross_entropy, mse, bce and own");
}

// The operators themselves: a function of the stream, and apart on every thread.
BOOST_AUTO_TEST_CASE(random_operators_follow_the_pass) {
  const auto draw = [](std::uint64_t key) {
    RandomStream stream({key});
    const PassRandom random(stream);
    return at::cat({at::rand({50}), at::randn({50}), at::dropout(at::ones({50}), 0.5, true),
                    at::bernoulli(at::full({50}, 0.3))});
  };
  const at::Tensor first = draw(1);
  at::rand({10});  // the shared generator has moved on
  BOOST_TEST(at::equal(first, draw(1)));
  BOOST_TEST(!at::equal(first, draw(2)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
