#include <ATen/ATen.h>

#include <boost/test/unit_test.hpp>

#include "elastic_runner/predictions.h"

namespace jabas {

BOOST_AUTO_TEST_SUITE(predictions_tests)

BOOST_AUTO_TEST_CASE(top5_counts_labels_among_the_five_largest) {
  // Class k has the logit k: 9 is the best, 5 the fifth.
  const at::Tensor logits = at::arange(10, at::kFloat).expand({4, 10}).contiguous();
  const at::Tensor labels = at::tensor({9, 5, 4, 0}, at::kLong);
  const Predictions predictions(logits, labels, Loss::kCrossEntropy);
  BOOST_TEST(predictions.correct() == 1);
  BOOST_TEST(predictions.has_top5());
  BOOST_TEST(predictions.correct_top5() == 2);
}

BOOST_AUTO_TEST_CASE(top5_counts_every_byte_of_a_text) {
  const at::Tensor logits = at::arange(8, at::kFloat).expand({2, 3, 8}).contiguous();
  const at::Tensor labels = at::tensor({7, 3, 2, 3, 0, 6}, at::kLong).view({2, 3});
  const Predictions predictions(logits, labels, Loss::kCrossEntropy);
  BOOST_TEST(predictions.correct() == 1);
  BOOST_TEST(predictions.correct_top5() == 4);
}

BOOST_AUTO_TEST_CASE(five_classes_have_no_top5) {
  BOOST_TEST(
      !Predictions(at::zeros({2, 5}), at::zeros({2}, at::kLong), Loss::kCrossEntropy).has_top5());
  BOOST_TEST(!Predictions(at::zeros({2, 6}), at::zeros({2, 6}), Loss::kBinary).has_top5());
  BOOST_TEST(
      Predictions(at::zeros({2, 6}), at::zeros({2}, at::kLong), Loss::kCrossEntropy).has_top5());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
