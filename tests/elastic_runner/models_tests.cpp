#include <ATen/ATen.h>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "allocator/error.h"
#include "elastic_runner/batch_loader.h"
#include "elastic_runner/model_catalogue.h"
#include "elastic_runner/models.h"
#include "tests/elastic_runner/engine_fixture.h"
#include "tests/elastic_runner/small_models.h"

namespace jabas {
namespace {

using namespace testing;
using Sizes = std::vector<std::int64_t>;

DataShape images(std::int64_t channels, std::int64_t side, std::int64_t classes) {
  DataShape shape;
  shape.channels = channels;
  shape.rows = shape.columns = side;
  shape.classes = classes;
  return shape;
}

std::int64_t count_parameters(const std::string& name, const DataShape& shape) {
  EngineOptions options;
  options.model = name;
  std::int64_t count = 0;
  for (const auto& parameter : make_model(options, shape, at::kFloat)->parameters())
    count += parameter.tensor.numel();
  return count;
}

std::string refusal(const EngineOptions& options) {
  try {
    make_iidp_engine(options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

// The model's outputs in evaluation, and by position whether they change with the inputs.
at::Tensor outputs_of(const EngineOptions& options, const std::vector<at::Tensor>& inputs) {
  const auto loader = make_batch_loader(options, at::kDouble);
  return make_model(options, loader->shape(), at::kDouble)->forward({inputs, {}}, nullptr);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(models_tests)

BOOST_AUTO_TEST_CASE(every_model_is_tried) {
  for (const ModelFacts& model : built_in_models())
    BOOST_TEST(
        (std::find(kSmallModels.begin(), kSmallModels.end(), model.name) != kSmallModels.end()),
        model.name);
}

BOOST_DATA_TEST_CASE(every_model_learns, boost::unit_test::data::make(kSmallModels), name) {
  EngineOptions options = small_model(name, "fp32");
  options.optimizer.name = "adam";
  options.size.dropout = std::min(options.size.dropout, 0.0);
  if (options.model == "gnmt") options.size.width = 32;
  const auto communicator = solo();
  const auto engine = make_iidp_engine(options);
  engine->configure(2, 0, 16);
  const Evaluation before = engine->evaluate(0, 1);
  const int steps = options.model == "gnmt" ? 150 : 40;
  for (int step = 1; step <= steps; ++step) {
    StepPlan plan = plan_for({{2, 0}}, 0, consecutive({16, 16}, (step - 1) * 32 % 320), step);
    plan.learning_rate = 0.01;
    engine->train_step(plan, *communicator);
  }
  const Evaluation after = engine->evaluate(0, 1);
  BOOST_TEST_MESSAGE(name << ": test loss " << before.loss_sum / double(before.count) << " -> "
                          << after.loss_sum / double(after.count) << ", correct " << after.correct
                          << " of " << after.count);
  BOOST_TEST(after.loss_sum < 0.7 * before.loss_sum);
}

BOOST_DATA_TEST_CASE(batch_norm_is_known_before_the_model_is_made,
                     boost::unit_test::data::make(kSmallModels), name) {
  const EngineOptions options = small_model(name, "fp32");
  BOOST_TEST(make_iidp_engine(options)->has_batch_norm() ==
             find_built_in_model(options.model)->batch_norm);
}

// Published: torchvision's models with 1000 classes; the ResNet18 of many repositories for CIFAR.
BOOST_AUTO_TEST_CASE(resnets_have_as_many_parameters_as_published) {
  BOOST_TEST(count_parameters("resnet18", images(3, 32, 10)) == 11'173'962);
  BOOST_TEST(count_parameters("resnet18", images(3, 224, 1000)) == 11'689'512);
  BOOST_TEST(count_parameters("resnet34", images(3, 224, 1000)) == 21'797'672);
  BOOST_TEST(count_parameters("resnet50", images(3, 224, 1000)) == 25'557'032);
}

// What weights were before the models took other images than those of MNIST.
BOOST_AUTO_TEST_CASE(first_values_for_images_of_mnist_stay_as_they_were) {
  const std::pair<std::string, std::vector<std::pair<std::string, Sizes>>> expected[] = {
      {"cnn",
       {{"conv1.weight", {16, 1, 3, 3}},
        {"bn1.weight", {16}},
        {"bn1.bias", {16}},
        {"conv2.weight", {32, 16, 3, 3}},
        {"bn2.weight", {32}},
        {"bn2.bias", {32}},
        {"fc1.weight", {128, 1568}},
        {"fc1.bias", {128}},
        {"fc2.weight", {10, 128}},
        {"fc2.bias", {10}}}},
      {"mlp",
       {{"fc1.weight", {256, 784}},
        {"fc1.bias", {256}},
        {"fc2.weight", {128, 256}},
        {"fc2.bias", {128}},
        {"fc3.weight", {10, 128}},
        {"fc3.bias", {10}}}},
  };
  for (const auto& [name, parameters] : expected) {
    EngineOptions options;
    options.model = name;
    options.seed = 7;
    const auto model = make_model(options, images(1, 28, 10), at::kFloat);
    BOOST_TEST_REQUIRE(model->parameters().size() == parameters.size());
    float bound = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto& [parameter, sizes] = parameters[i];
      const at::Tensor& tensor = model->parameters()[i].tensor;
      BOOST_TEST(model->parameters()[i].name == parameter);
      BOOST_TEST(tensor.sizes().vec() == sizes);
      if (parameter.starts_with("bn")) continue;
      if (sizes.size() > 1)  // a bias has the bound of its weight
        bound = float(1 / std::sqrt(double(tensor.numel() / sizes[0])));
      RandomStream draws({7, 0x696e6974, i});
      for (std::int64_t k = 0; k < 3; ++k)
        BOOST_TEST(tensor.flatten()[k].item<float>() == bound * (2 * draws.uniform() - 1));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_model_that_does_not_fit_the_data_says_why) {
  const auto with = [](const std::string& model, const std::string& kind, const Sizes& sizes) {
    EngineOptions options = small_model(model, "fp32");
    options.synthetic.kind = kind;
    options.synthetic.sample_shape = sizes;
    return refusal(options);
  };
  BOOST_TEST(with("cnn", "images", {1, 3, 8}) ==
             "--model=cnn: reads images of at least 4x4 pixels; data set synthetic has images of "
             "1x3x8 (channels x rows x columns) in 4 classes");
  BOOST_TEST(with("vit", "images", {1, 8, 6}) ==
             "--model=vit: reads images whose rows and columns are multiples of --patch-size=4; "
             "data set synthetic has images of 1x8x6 (channels x rows x columns) in 4 classes");
  BOOST_TEST(with("unet", "masks", {1, 6, 8}) ==
             "--model=unet: reads masks whose rows and columns are multiples of 2 to the power of "
             "--layers=2; data set synthetic has images of 1x6x8 (channels x rows x columns) with "
             "one of 4 classes for each pixel");
  BOOST_TEST(with("resnet18", "tokens", {8}) ==
             "--model=resnet18: reads images; data set synthetic has sequences of 8 of 8 tokens");
  BOOST_TEST(with("gpt", "pairs", {5, 4}) ==
             "--model=gpt: reads tokens; data set synthetic has pairs of sequences of 5 and 4 of "
             "8 tokens");
  BOOST_TEST(with("mlp", "clicks", {4, 10, 20}) ==
             "--model=mlp: reads images or arrays; data set synthetic has 4 numbers and rows of 2 "
             "tables with 0 or 1");
  BOOST_TEST(with("gnmt", "arrays", {3, 4}) ==
             "--model=gnmt: reads pairs; data set synthetic has arrays of 3x4 in 4 classes");
}

// A token is predicted from those before it and from all of the source.
BOOST_AUTO_TEST_CASE(the_gnmt_does_not_look_ahead) {
  const EngineOptions options = small_model("gnmt", "fp64");
  const at::Tensor source = at::arange(5, at::kLong).view({1, 5});
  const at::Tensor target = at::arange(4, at::kLong).view({1, 4});
  const auto changed = [](const at::Tensor& tokens, std::int64_t position) {
    at::Tensor other = tokens.clone();
    other[0][position] = 7;
    return other;
  };
  const at::Tensor outputs = outputs_of(options, {source, target});
  const auto differs = [&](const std::vector<at::Tensor>& inputs, std::int64_t position) {
    return (outputs_of(options, inputs) - outputs).abs().amax({0, 2})[position].item<double>() > 0;
  };
  for (std::int64_t i = 0; i < 4; ++i) {
    BOOST_TEST(differs({source, changed(target, 2)}, i) == (i >= 2), "position " << i);
    for (std::int64_t from = 0; from < 5; ++from)
      BOOST_TEST(differs({changed(source, from), target}, i), "source " << from);
  }
}

BOOST_AUTO_TEST_CASE(the_unet_gives_each_pixel_its_classes) {
  const EngineOptions options = small_model("unet", "fp64");
  const at::Tensor image = at::zeros({2, 1, 8, 12}, at::kDouble);
  BOOST_TEST(outputs_of(options, {image}).sizes().vec() == (Sizes{2, 8, 12, 4}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
