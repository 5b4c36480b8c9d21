#include <ATen/ATen.h>

#include <boost/test/unit_test.hpp>

#include "allocator/error.h"
#include "elastic_runner/synthetic_data.h"
#include "elastic_runner/synthetic_loader.h"

namespace jabas {
namespace {

EngineOptions options_of(DataShape::Kind kind) {
  EngineOptions options;
  options.dataset = "synthetic";
  options.synthetic.kind = kind_name(kind);
  options.synthetic.samples = 100;
  options.synthetic.test_samples = 50;
  options.synthetic.classes = 4;
  options.synthetic.vocabulary = 20;
  return options;
}

Batch train_batch(const BatchLoader& loader, const std::vector<std::int64_t>& samples) {
  RandomStream draws({0});
  return loader.train(samples, draws);
}

bool equal(const Batch& a, const Batch& b) {
  bool same = at::equal(a.labels, b.labels);
  for (std::size_t i = 0; i < a.inputs.size(); ++i) same &= at::equal(a.inputs[i], b.inputs[i]);
  return same;
}

std::string usage_error(const EngineOptions& options) {
  try {
    make_synthetic_loader(options, at::kFloat);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(synthetic_loader_tests)

BOOST_AUTO_TEST_CASE(tensors_are_those_that_data_shape_names) {
  const auto sizes = [](const at::Tensor& tensor) { return tensor.sizes().vec(); };
  using Sizes = std::vector<std::int64_t>;
  const struct {
    DataShape::Kind kind;
    Sizes sample_shape;
    std::vector<Sizes> inputs;
    Sizes labels;
  } cases[] = {
      {DataShape::Kind::kImages, {3, 5, 6}, {{2, 3, 5, 6}}, {2}},
      {DataShape::Kind::kMasks, {3, 5, 6}, {{2, 3, 5, 6}}, {2, 5, 6}},
      {DataShape::Kind::kTokens, {7}, {{2, 7}}, {2, 7}},
      {DataShape::Kind::kPairs, {7, 5}, {{2, 7}, {2, 5}}, {2, 5}},
      {DataShape::Kind::kClicks, {3, 10, 20}, {{2, 3}, {2, 2}}, {2}},
      {DataShape::Kind::kArrays, {4, 5}, {{2, 4, 5}}, {2}},
  };
  for (const auto& example : cases) {
    EngineOptions options = options_of(example.kind);
    options.synthetic.sample_shape = example.sample_shape;
    const auto loader = make_synthetic_loader(options, at::kFloat);
    BOOST_TEST((loader->shape().kind == example.kind));
    BOOST_TEST(loader->train_samples() == 100);
    BOOST_TEST(loader->test_samples() == 50);
    const Batch batch = train_batch(*loader, {99, 0});
    BOOST_TEST_REQUIRE(batch.inputs.size() == example.inputs.size());
    for (std::size_t i = 0; i < batch.inputs.size(); ++i)
      BOOST_TEST(sizes(batch.inputs[i]) == example.inputs[i]);
    BOOST_TEST(sizes(batch.labels) == example.labels);
    BOOST_TEST((batch.labels.scalar_type() == at::kLong));
  }
}

BOOST_AUTO_TEST_CASE(a_sample_is_a_function_of_its_index) {
  for (const auto kind : all_kinds()) {
    const EngineOptions options = options_of(kind);
    const auto one = make_synthetic_loader(options, at::kFloat);
    EngineOptions other = options;
    other.seed = 5;
    other.subset = 40;
    const auto same = make_synthetic_loader(other, at::kFloat);
    BOOST_TEST(same->train_samples() == 40);
    BOOST_TEST(count_train_samples(other) == 40);
    const Batch together = train_batch(*one, {3, 4, 5}), alone = train_batch(*same, {4});
    for (std::size_t i = 0; i < alone.inputs.size(); ++i)
      BOOST_TEST(at::equal(together.inputs[i][1], alone.inputs[i][0]), kind_name(kind));
    BOOST_TEST(at::equal(together.labels[1], alone.labels[0]));
    BOOST_TEST(!equal(train_batch(*one, {3}), train_batch(*one, {4})), kind_name(kind));
    BOOST_TEST(!equal(one->test({3}), train_batch(*one, {3})), kind_name(kind));
    const auto doubles = make_synthetic_loader(options, at::kDouble);
    BOOST_TEST(at::allclose(train_batch(*doubles, {4}).inputs[0].to(at::kDouble),
                            alone.inputs[0].to(at::kDouble), 1e-6, 1e-6));
  }
}

BOOST_AUTO_TEST_CASE(arrays_without_classes_have_numbers) {
  EngineOptions options = options_of(DataShape::Kind::kArrays);
  options.synthetic.classes = 0;
  const auto loader = make_synthetic_loader(options, at::kFloat);
  BOOST_TEST(loader->shape().target == std::vector<std::int64_t>{1});
  const Batch batch = train_batch(*loader, {0, 1, 2});
  BOOST_TEST(batch.labels.sizes().vec() == (std::vector<std::int64_t>{3, 1}));
  BOOST_TEST((batch.labels.scalar_type() == at::kFloat));
}

BOOST_AUTO_TEST_CASE(the_kind_is_by_default_what_the_model_reads) {
  EngineOptions options = options_of(DataShape::Kind::kImages);
  options.synthetic.kind = "";
  options.model = "gpt";
  BOOST_TEST((synthetic_shape(options).kind == DataShape::Kind::kTokens));
  options.model = "net.pt";
  BOOST_TEST(usage_error(options) ==
             "synthetic data: what model net.pt reads is not known; accepted are images, masks, "
             "tokens, pairs, clicks, arrays");
  options.synthetic.kind = "videos";
  BOOST_TEST(usage_error(options) ==
             "synthetic data: 'videos' is no kind of samples; accepted are images, masks, tokens, "
             "pairs, clicks, arrays");
}

BOOST_AUTO_TEST_CASE(bad_sizes_are_named) {
  EngineOptions options = options_of(DataShape::Kind::kImages);
  options.synthetic.sample_shape = {28, 28};
  BOOST_TEST(usage_error(options) ==
             "synthetic images of sizes 28,28: accepted are channels, rows and columns, each in "
             "1..1048576");
  options.synthetic.sample_shape = {1, 0, 28};
  BOOST_TEST(usage_error(options) ==
             "synthetic images of sizes 1,0,28: accepted are channels, rows and columns, each in "
             "1..1048576");
  options.synthetic.sample_shape = {};
  options.synthetic.classes = 1;
  BOOST_TEST(usage_error(options) == "synthetic images with 1 classes: accepted are 2..1048576");
  options.synthetic.classes = 2;
  options.subset = 101;
  BOOST_TEST(usage_error(options) == "--subset=101: the training set has 100 samples");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
