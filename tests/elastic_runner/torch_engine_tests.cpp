#include <boost/test/unit_test.hpp>
#include <mutex>
#include <set>

#include "tests/elastic_runner/engine_fixture.h"

namespace jabas {
namespace {

using namespace testing;

// Lets the first `reductions` all-reduces pass and fails the next one.
class FailingCommunicator : public Communicator {
 public:
  explicit FailingCommunicator(int reductions) : left_(reductions) {}
  int rank() const override { return 0; }
  int world_size() const override { return 2; }
  void set_timeout(std::chrono::milliseconds) override {}
  void all_reduce_sum(float*, std::size_t) override { count(); }
  void all_reduce_sum(double*, std::size_t) override { count(); }
  void all_reduce_min(std::int64_t*, std::size_t) override {}
  void broadcast(void*, std::size_t, int) override {}
  void all_gather(const void*, std::size_t, void*) override {}
  void barrier(std::chrono::milliseconds) override {}
  void send(int, const void*, std::size_t, std::chrono::milliseconds) override {}
  void recv(int, void*, std::size_t, std::chrono::milliseconds) override {}

 private:
  void count() {
    if (left_-- == 0) throw CommError("peer lost");
  }
  int left_;
};

const std::vector<std::int64_t> kEightByFour(8, 4);

double* values_of(IidpEngine& engine, const std::string& name) {
  for (const auto& tensor : engine.state())
    if (tensor.name == name) return static_cast<double*>(tensor.data);
  throw std::runtime_error("no tensor " + name);
}

// The mean gradient of a step, read off a step of plain SGD with learning rate 1.
Tensors gradient_of(const EngineFixture& fixture, EngineOptions options, const Share& share,
                    const Slices& slices) {
  options.optimizer.momentum = 0;
  const auto communicator = solo();
  const auto engine = fixture.engine(options, share);
  const Tensors before = copy_state(*engine);
  StepPlan plan = plan_for({share}, 0, slices, 1);
  plan.learning_rate = 1;
  engine->train_step(plan, *communicator);
  Tensors gradient;
  for (const auto& [name, after] : copy_state(*engine)) {
    if (!name.starts_with("weight/")) continue;
    auto& values = gradient[name];
    for (std::size_t i = 0; i < after.size(); ++i) values.push_back(before.at(name)[i] - after[i]);
  }
  return gradient;
}

double inner(const Tensors& a, const Tensors& b) {
  double sum = 0;
  for (const auto& [name, values] : a)
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * b.at(name)[i];
  return sum;
}

std::string usage_error(const EngineOptions& options) {
  try {
    make_iidp_engine(options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(torch_engine_tests, EngineFixture)

// Against finite differences of the loss, dropout and BatchNorm included (both are functions of the
// step alone).
BOOST_AUTO_TEST_CASE(the_gradient_is_the_derivative_of_the_mean_loss) {
  const auto slices = consecutive({5, 4, 4});
  const Share share{2, 1};
  const auto gradient = gradient_of(*this, options("cnn", "fp64"), share, slices);
  const auto communicator = solo();
  const auto engine = this->engine(options("cnn", "fp64"), share);
  StepPlan plan = plan_for({share}, 0, slices, 1);
  plan.learning_rate = 0;
  for (const auto& [name, values] : gradient) {
    const std::size_t index = values.size() / 2;
    double* weight = values_of(*engine, name) + index;
    const double value = *weight, step = 1e-5;
    *weight = value + step;
    const double above = engine->train_step(plan, *communicator).loss;
    *weight = value - step;
    const double below = engine->train_step(plan, *communicator).loss;
    *weight = value;
    BOOST_TEST(std::abs((above - below) / (2 * step) - values[index]) <=
                   1e-7 + 1e-6 * std::abs(values[index]),
               name << ": " << (above - below) / (2 * step) << " and " << values[index]);
  }
}

BOOST_AUTO_TEST_CASE(halves_are_the_mean_gradients_of_even_and_odd_virtual_workers) {
  const auto options = this->options("cnn", "fp64");
  const auto slices = consecutive({5, 4, 4, 3, 4, 4, 2});
  Slices even = slices, odd = slices;
  for (std::size_t i = 0; i < slices.size(); ++i) (i % 2 == 0 ? odd : even)[i].clear();
  const auto even_gradient = gradient_of(*this, options, {7, 0}, even);
  const auto odd_gradient = gradient_of(*this, options, {7, 0}, odd);
  const auto all_gradient = gradient_of(*this, options, {7, 0}, slices);
  // With odd V a replica alternates between the halves; the second rank's first worker is odd.
  for (const Placement& placement :
       {Placement{{7, 0}}, Placement{{1, 6}}, Placement{{3, 0}, {2, 1}}, Placement{{3, 2}}}) {
    const auto result =
        train(options, placement, {slices}, [](int, StepPlan& plan) { plan.measure = true; });
    for (const auto& outcomes : result.outcomes) {
      BOOST_TEST_REQUIRE(outcomes[0].halves.has_value());
      const auto& halves = *outcomes[0].halves;
      const auto tolerance = boost::test_tools::tolerance(1e-10);
      BOOST_TEST(halves.even_samples == 15);
      BOOST_TEST(halves.odd_samples == 11);
      BOOST_TEST(halves.even_sqr == inner(even_gradient, even_gradient), tolerance);
      BOOST_TEST(halves.odd_sqr == inner(odd_gradient, odd_gradient), tolerance);
      BOOST_TEST(halves.all_sqr == inner(all_gradient, all_gradient), tolerance);
      BOOST_TEST(halves.inner == inner(even_gradient, odd_gradient), tolerance);
    }
    const auto plain = train(options, placement, {slices});
    BOOST_TEST(difference(result.states[0], plain.states[0]) <= 1e-13);
  }
}

BOOST_AUTO_TEST_CASE(a_half_without_samples_is_no_measurement) {
  const auto result = train(options("mlp", "fp32"), {{2, 0}}, {consecutive({4})},
                            [](int, StepPlan& plan) { plan.measure = true; });
  BOOST_TEST(!result.outcomes[0][0].halves.has_value());
}

BOOST_AUTO_TEST_CASE(control_vectors_are_summed_and_may_change_their_length) {
  const auto result =
      train(options("mlp", "fp32"), {{1, 0}, {1, 0}, {1, 0}},
            {consecutive({4, 4, 4}), consecutive({2})}, [](int rank, StepPlan& plan) {
              plan.control = {static_cast<float>(rank), 1};
              if (plan.step == 2) plan.control.push_back(0.5f);
            });
  for (const auto& outcomes : result.outcomes) {
    BOOST_TEST(outcomes[0].control == (std::vector<float>{3, 3}));
    BOOST_TEST(outcomes[1].control == (std::vector<float>{3, 3, 1.5f}));
    BOOST_TEST(outcomes[0].loss == result.outcomes[0][0].loss);
  }
}

BOOST_AUTO_TEST_CASE(batch_norm_buffers_are_those_of_virtual_worker_zero) {
  const auto alone = train(options("cnn", "fp64"), {{1, 0}}, {consecutive({6})});
  const auto together =
      train(options("cnn", "fp64"), {{2, 1}, {1, 0}}, {consecutive({6, 6, 6, 6, 6})});
  for (const auto& [name, values] : alone.states[0]) {
    if (!name.starts_with("buffer/")) continue;
    for (const auto& state : together.states) BOOST_TEST(state.at(name) == values, name);
    if (name.ends_with("num_batches_tracked")) BOOST_TEST(values[0] == 1);
    if (name.ends_with("running_mean"))
      BOOST_TEST(std::any_of(values.begin(), values.end(), [](double v) { return v != 0; }));
  }
}

BOOST_AUTO_TEST_CASE(an_emulated_step_takes_its_time_and_says_when_it_could_not) {
  const auto communicator = solo();
  const auto engine = this->engine(options("mlp", "fp32"), {1, 0});
  StepPlan plan = plan_for({{1, 0}}, 0, consecutive({4}), 1);
  plan.min_compute_s = 0.25;
  const auto slow = engine->train_step(plan, *communicator);
  BOOST_TEST(slow.times.step_s >= 0.25);
  plan.min_compute_s = 1e-6;
  BOOST_TEST(engine->train_step(plan, *communicator).overrun);
  plan.min_compute_s = 0;
  BOOST_TEST(!engine->train_step(plan, *communicator).overrun);
  plan.slices[0].clear();  // a rank without work keeps to its time too
  plan.min_compute_s = 0.1;
  const auto idle = engine->train_step(plan, *communicator);
  BOOST_TEST(idle.times.step_s >= 0.1);
  BOOST_TEST(!idle.overrun);
}

BOOST_AUTO_TEST_CASE(a_lost_peer_leaves_the_state_as_it_was) {
  const auto options = this->options("cnn", "fp32");
  const auto steps = std::vector<Slices>{consecutive(kEightByFour), consecutive(kEightByFour, 32)};
  const auto reference = train(options, {{2, 3}}, steps);
  const auto communicator = solo();
  const auto engine = this->engine(options, {2, 3});
  engine->train_step(plan_for({{2, 3}}, 0, steps[0], 1), *communicator);
  const auto before = copy_state(*engine);
  for (int passing = 0; passing < 3;
       ++passing) {  // also in the extra all-reduce of a measuring step
    FailingCommunicator failing(passing);
    StepPlan plan = plan_for({{2, 3}}, 0, steps[1], 2);
    plan.measure = true;
    BOOST_CHECK_THROW(engine->train_step(plan, failing), CommError);
    BOOST_TEST(difference(copy_state(*engine), before) == 0);
  }
  engine->train_step(plan_for({{2, 3}}, 0, steps[1], 2), *communicator);
  BOOST_TEST(difference(copy_state(*engine), reference.states[0]) == 0);
}

BOOST_AUTO_TEST_CASE(what_the_reader_throws_ends_the_step_without_effect) {
  auto options = this->options("cnn", "fp32");
  options.on_read = [](std::int64_t worker, const std::vector<std::int64_t>&) {
    if (worker == 5) throw IoError("cannot write", "ledger", ENOSPC);
  };
  const auto communicator = solo();
  const auto engine = this->engine(options, {4, 1});
  const auto before = copy_state(*engine);
  BOOST_CHECK_THROW(
      engine->train_step(plan_for({{4, 1}}, 0, consecutive(kEightByFour), 1), *communicator),
      IoError);
  BOOST_TEST(difference(copy_state(*engine), before) == 0);
  engine->train_step(plan_for({{4, 1}}, 0, consecutive({4, 4}), 1), *communicator);
}

BOOST_AUTO_TEST_CASE(every_slice_is_reported_as_read_once) {
  auto options = this->options("mlp", "fp32");
  std::mutex mutex;
  std::map<std::int64_t, std::vector<std::int64_t>> reads;
  std::multiset<std::int64_t> workers;
  options.on_read = [&](std::int64_t worker, const std::vector<std::int64_t>& samples) {
    const std::lock_guard lock(mutex);
    reads[worker] = samples;
    workers.insert(worker);
  };
  const auto slices = consecutive({4, 3, 3, 3, 3}, 17);
  train(options, {{2, 1}, {1, 1}}, {slices});
  BOOST_TEST(workers.size() == slices.size());
  for (std::size_t worker = 0; worker < slices.size(); ++worker)
    BOOST_TEST(reads[static_cast<std::int64_t>(worker)] == slices[worker]);
}

BOOST_AUTO_TEST_CASE(shares_of_an_evaluation_add_up) {
  const SyntheticMnist more(40, 1203);
  auto options = this->options("cnn", "fp32");
  options.data_dir = more.path();
  const auto engine = this->engine(options, {1, 0});
  const Evaluation whole = engine->evaluate(0, 1);
  BOOST_TEST(whole.count == 1203);
  engine->configure(2, 0, 4);
  Evaluation sum;
  for (int rank = 0; rank < 3; ++rank) {
    const Evaluation part = engine->evaluate(rank, 3);
    BOOST_TEST(part.count == 401);
    sum.loss_sum += part.loss_sum;
    sum.correct += part.correct;
    sum.correct_top5 += part.correct_top5;
    sum.count_top5 += part.count_top5;
  }
  BOOST_TEST(whole.count_top5 == 1203);
  BOOST_TEST(sum.count_top5 == 1203);
  BOOST_TEST(sum.correct_top5 == whole.correct_top5);
  BOOST_TEST(whole.correct_top5 > whole.correct);
  BOOST_TEST(!whole.is_text);
  BOOST_TEST(sum.correct == whole.correct);
  BOOST_TEST(sum.loss_sum == whole.loss_sum, boost::test_tools::tolerance(1e-5));
  BOOST_TEST(engine->evaluate(1203, 1204).count == 0);
}

BOOST_AUTO_TEST_CASE(weight_decay_leaves_norms_and_biases_out_unless_told) {
  const auto communicator = solo();
  for (const bool all : {false, true}) {
    auto options = this->options("cnn", "fp64");
    options.optimizer = {.name = "adamw", .weight_decay = 0.5, .decay_all = all};
    auto plain = options;
    plain.optimizer.weight_decay = 0;
    const auto decayed = engine(options, {1, 0}), without = engine(plain, {1, 0});
    const auto before = copy_state(*decayed);
    for (const auto& engine : {decayed.get(), without.get()})
      engine->train_step(plan_for({{1, 0}}, 0, consecutive({8}), 1), *communicator);
    const auto after = copy_state(*decayed), reference = copy_state(*without);
    for (const auto& [name, values] : before) {
      if (!name.starts_with("weight/")) continue;
      const bool decays = all || name == "weight/conv1.weight" || name == "weight/conv2.weight" ||
                          name == "weight/fc1.weight" || name == "weight/fc2.weight";
      // 0.05 is the learning rate of the plan.
      for (std::size_t i = 0; i < values.size(); i += 7)
        BOOST_TEST(std::abs(after.at(name)[i] - reference.at(name)[i] +
                            (decays ? 0.05 * 0.5 * values[i] : 0)) <= 1e-12,
                   name);
    }
  }
}

BOOST_AUTO_TEST_CASE(clipping_bounds_the_gradient_that_is_applied_and_not_the_one_measured) {
  const auto slices = consecutive({4, 4});
  const auto gradient = gradient_of(*this, options("cnn", "fp64"), {2, 0}, slices);
  const double norm = std::sqrt(inner(gradient, gradient));
  auto clipped = options("cnn", "fp64");
  clipped.clip_norm = norm / 2;
  const auto result =
      train(clipped, {{1, 0}, {1, 0}}, {slices}, [](int, StepPlan& plan) { plan.measure = true; });
  BOOST_TEST(result.outcomes[0][0].gradient_norm == norm, boost::test_tools::tolerance(1e-10));
  BOOST_TEST(result.outcomes[0][0].halves->all_sqr == norm * norm,
             boost::test_tools::tolerance(1e-10));
  const auto half = gradient_of(*this, clipped, {2, 0}, slices);
  for (const auto& [name, values] : gradient)
    for (std::size_t i = 0; i < values.size(); i += 11)
      BOOST_TEST(std::abs(half.at(name)[i] - values[i] / 2) <= 1e-12, name);
  BOOST_TEST(train(options("mlp", "fp32"), {{1, 0}}, {slices}).outcomes[0][0].gradient_norm == -1);
}

BOOST_AUTO_TEST_CASE(times_and_sizes_are_reported) {
  const auto result = train(options("cnn", "fp32"), {{2, 1}}, {consecutive({16, 16, 16, 16})});
  const StepTimes& times = result.outcomes[0][0].times;
  for (const double time :
       {times.data_s, times.forward_s, times.backward_s, times.update_s, times.step_s})
    BOOST_TEST(time > 0);
  const auto engine = make_iidp_engine(options("cnn", "fp32"));
  BOOST_TEST(engine->train_samples() == 320);
  BOOST_TEST(engine->has_batch_norm());
  BOOST_TEST(!make_iidp_engine(options("mlp", "fp32"))->has_batch_norm());
}

BOOST_AUTO_TEST_CASE(unknown_options_are_named) {
  auto options = this->options("resnet", "fp32");
  BOOST_TEST(usage_error(options).starts_with("--model=resnet: accepted are cnn, mlp, resnet18"));
  options = this->options("cnn", "fp16");
  BOOST_TEST(usage_error(options) == "--precision=fp16: accepted are fp32, fp64");
  options = this->options("cnn", "fp32");
  options.device = "cuda";
  BOOST_TEST(usage_error(options) == "--device=cuda: this build has only cpu");
  options.device = "cpu";
  options.optimizer.name = "adagrad";
  BOOST_TEST(usage_error(options) == "--optimizer=adagrad: accepted are sgd, adam, adamw and lamb");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
