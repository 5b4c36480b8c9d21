#include <boost/test/unit_test.hpp>

#include "spank_plugin/jabasd/train_admission.h"

using namespace jabas;

namespace {

Options options(const std::vector<TypeRange>& gpus, int unit = 1) {
  Options result;
  result.on = true;
  result.gpus = gpus;
  result.unit = unit;
  return result;
}

Hello hello(int base_workers = 0) {
  Hello result;
  result.role = "console";
  result.job_id = "7";
  result.executable = "/bin/jabas-run";
  result.base_workers = base_workers;
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(train_admission_tests)

BOOST_AUTO_TEST_CASE(limits_are_taken_as_given_without_base_gpus) {
  const Admission admission = admit(hello(), options({{"v100", 1, 4}, {"p100", 0, 2}}), "");
  BOOST_TEST(admission.refusal == "");
  BOOST_TEST(admission.limits.size() == 2u);
  BOOST_TEST(admission.base.empty());
}

BOOST_AUTO_TEST_CASE(base_gpus_count_in_their_type) {
  const Admission admission = admit(hello(2), options({{"v100", 0, 4}}), "v100");
  BOOST_TEST(admission.refusal == "");
  BOOST_TEST(admission.limits[0].min == 2);
  BOOST_TEST(admission.limits[0].max == 4);
  BOOST_TEST((admission.base == GpuCounts{{"v100", 2}}));
}

BOOST_AUTO_TEST_CASE(a_base_type_that_is_not_listed_is_fixed) {
  const Admission admission = admit(hello(2), options({{"v100", 0, 4}}), "a100");
  BOOST_TEST(admission.limits.size() == 2u);
  BOOST_TEST(admission.limits[1].type == "a100");
  BOOST_TEST(admission.limits[1].min == 2);
  BOOST_TEST(admission.limits[1].max == 2);
}

BOOST_AUTO_TEST_CASE(refusals_by_exact_text) {
  BOOST_TEST(admit(hello(3), options({{"v100", 0, 2}}), "v100").refusal ==
             "--jabas-gpus=v100:0-2: the job itself holds 3 v100; MAX must be at least that");
  BOOST_TEST(admit(hello(1), options({{"v100", 1, 4}}, 2), "v100").refusal ==
             "--jabas-gpus=v100:1-4: MIN and MAX, less the 1 GPUs of the job itself, must be "
             "multiples of --jabas-unit=2");
  Options batch = options({{"v100", 0, 2}});
  batch.batch_min = 64;
  batch.batch_max = 512;
  Hello conflict = hello();
  conflict.arguments = {"--model", "cnn", "--virtual-workers=8"};
  BOOST_TEST(admit(conflict, batch, "").refusal ==
             "--virtual-workers: the job was submitted with --jabas-batch=64-512, which sets the "
             "batch; give one of the two");
  BOOST_TEST(admit(hello(), batch, "").refusal ==
             "--similarity-target: required when the batch is adaptive; accepted is a number "
             "between 0 and 1 (or "
             "--adaptive=off)");
  Hello goodput = hello();
  goodput.spec.batch_policy = "goodput";
  BOOST_TEST(admit(goodput, batch, "").refusal == "");
  Hello old = hello();
  old.protocol = 99;
  BOOST_TEST(admit(old, batch, "").refusal ==
             "jabas-run speaks protocol 99, jabasd speaks 1: install the same version of both");
}

BOOST_AUTO_TEST_CASE(the_jobs_batch_bounds_reach_the_specification) {
  Options batch = options({{"v100", 0, 2}});
  batch.batch_min = 64;
  batch.batch_max = 512;
  Hello adaptive = hello();
  adaptive.spec.similarity_target = 0.3;
  Admission admission = admit(adaptive, batch, "");
  BOOST_TEST(admission.refusal == "");
  BOOST_TEST(admission.spec.batch_min == 64);
  BOOST_TEST(admission.spec.batch_max == 512);
  BOOST_TEST(admission.spec.batch_initial == 64);
  BOOST_TEST(admission.spec.adaptive);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--adaptive=off"}, {"--adaptive", "off"}}) {
    adaptive.arguments = words;
    BOOST_TEST(!admit(adaptive, batch, "").spec.adaptive);
  }
}

BOOST_AUTO_TEST_CASE(without_any_batch_option_the_minimum_of_gpus_gives_it) {
  const Admission admission = admit(hello(), options({{"v100", 2, 4}, {"p100", 1, 1}}), "");
  BOOST_TEST(admission.spec.batch_min == 96);
  BOOST_TEST(admission.spec.batch_max == 96);
  BOOST_TEST(admission.spec.batch_initial == 96);
}

BOOST_AUTO_TEST_SUITE_END()
