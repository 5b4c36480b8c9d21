// What would make a replica compute with other weights, or leave gradients elsewhere, without a
// word.
#include <ATen/ATen.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>

#include "allocator/error.h"
#include "elastic_runner/replica.h"

namespace jabas {
namespace {

// One linear layer, whose forward may do something first.
class LinearModel : public Model {
 public:
  at::Tensor forward(const Batch& batch, RandomStream*) override {
    if (before_forward) before_forward();
    return at::linear(batch.inputs[0], parameters_[0].tensor, parameters_[1].tensor);
  }
  std::vector<NamedTensor>& parameters() override { return parameters_; }
  std::vector<NamedTensor>& buffers() override { return buffers_; }

  std::function<void()> before_forward;

 private:
  std::vector<NamedTensor> parameters_ = {{"fc.weight", at::ones({3, 4}).requires_grad_(true)},
                                          {"fc.bias", at::ones({3}).requires_grad_(true)}};
  std::vector<NamedTensor> buffers_;
};

struct ReplicaFixture {
  ReplicaFixture() {
    auto owned = std::make_unique<LinearModel>();
    model = owned.get();
    replica = std::make_unique<Replica>(std::move(owned), layout, weights, epoch);
  }
  void begin() {
    replica->begin_step(false, [this](int bucket) { arrived.push_back(bucket); });
  }
  void forward() {
    RandomStream random({1});
    replica->forward({{at::ones({2, 4})}, at::zeros({2}, at::kLong)}, 0.5, random);
  }
  void step() {
    begin();
    forward();
    replica->backward(0, true);
    replica->finish_step();
  }
  at::Tensor& bias() { return model->parameters()[1].tensor; }
  static std::string error_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  const FlatLayout layout = make_flat_layout({12, 3}, 4, 1 << 20);
  const at::Tensor weights = at::ones({layout.size});
  WeightsEpoch epoch;
  LinearModel* model = nullptr;
  std::unique_ptr<Replica> replica;
  std::vector<int> arrived;
};

const std::string kMoved =
    "model: the values of parameter fc.bias were moved out of the shared weights; a model must not "
    "load, convert or move its parameters during training";
const std::string kReplaced =
    "model: the gradient of parameter fc.bias was replaced; a model must not set or drop its "
    "parameters' gradients";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(replica_tests, ReplicaFixture)

BOOST_AUTO_TEST_CASE(a_good_step_arrives_once_per_bucket) {
  step();
  step();
  BOOST_TEST(arrived.size() == 2 * layout.buckets.size());
}

// What torch::load and module.to() do to a parameter.
BOOST_AUTO_TEST_CASE(values_that_were_moved_are_noticed_before_the_next_step) {
  step();
  bias().set_data(bias().detach().clone());
  BOOST_TEST(error_of([&] { begin(); }) == kMoved);
}

// What zero_grad(set_to_none) does.
BOOST_AUTO_TEST_CASE(dropped_gradients_are_noticed_before_the_next_step) {
  step();
  bias().mutable_grad().reset();
  BOOST_TEST(error_of([&] { begin(); }) == kReplaced);
}

BOOST_AUTO_TEST_CASE(what_forward_does_to_parameters_is_noticed_in_the_same_step) {
  model->before_forward = [&] { bias().mutable_grad().reset(); };
  BOOST_TEST(error_of([&] { step(); }) == kReplaced);
  model->before_forward = [&] { bias().set_data(bias().detach().to(at::kDouble)); };
  bias().mutable_grad() = at::Tensor();
  BOOST_TEST(error_of([&] { step(); }) == kReplaced);
}

BOOST_AUTO_TEST_CASE(updates_between_passes_are_fine) {
  step();
  epoch.advance();
  step();
}

// In a child process: the assertion ends it.
BOOST_AUTO_TEST_CASE(an_update_during_a_pass_is_a_bug) {
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(SIGABRT, SIG_DFL);
    ::close(STDERR_FILENO);  // the assertion's text is expected
    begin();
    forward();
    epoch.advance();
    replica->backward(0, true);
    ::_exit(0);
  }
  int status = 0;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  BOOST_TEST(WIFSIGNALED(status));
  BOOST_TEST(WTERMSIG(status) == SIGABRT);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
