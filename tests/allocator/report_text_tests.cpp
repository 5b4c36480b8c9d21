#include <boost/test/unit_test.hpp>

#include "allocator/report_text.h"

using namespace jabas;

BOOST_AUTO_TEST_SUITE(report_text_tests)

BOOST_AUTO_TEST_CASE(an_epoch_that_ended) {
  EpochReport report;
  report.epoch = 2;
  report.loss = 0.41208;
  report.test_accuracy = 0.8704;
  report.global_batch = 96;
  report.train_s = 11;
  report.evaluation_s = 1.3;
  BOOST_TEST(to_text(report, 6) ==
             "epoch 2/6 ended: loss 0.4121, test accuracy 0.8704, B 96, 12.3 s");
}

BOOST_AUTO_TEST_CASE(a_resize) {
  BOOST_TEST(resize_text(3, {{"p100", 2}, {"v100", 1}}, {{"v100", 2}}, 0.056) ==
             "epoch 3: 2×p100 + 1×v100 → 2×v100, pause 0.06 s");
}

BOOST_AUTO_TEST_SUITE_END()
