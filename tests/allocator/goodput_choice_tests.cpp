#include <boost/test/unit_test.hpp>
#include <random>

#include "allocator/goodput_choice.h"
#include "tests/allocator/profile_fixtures.h"

namespace jabas {
namespace {

double s_per_progress(const Configuration& c, const GradientNoise& noise) {
  return c.step_s / gain(double(c.local_batch * c.virtual_workers), noise);
}

// Every local batch with every number of workers inside the limits.
double least_s_per_progress(const RankedGpus& gpus, const BatchRules& rules,
                            const GradientNoise& noise, const ThroughputModel& model) {
  double least = std::numeric_limits<double>::infinity();
  const auto least_workers = std::int64_t(std::max<std::size_t>(gpus.types.size(), 2));
  for (std::int64_t b = 1; b <= rules.batch_max / least_workers; ++b)
    for (std::int64_t workers = least_workers; b * workers <= rules.batch_max; ++workers) {
      if (b * workers < rules.batch_min || b < 8) continue;
      const Solution solution = solve(gpus, b, workers, model);
      if (solution.configuration)
        least = std::min(least, s_per_progress(*solution.configuration, noise));
    }
  return least;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(goodput_choice_tests)

BOOST_AUTO_TEST_CASE(equals_trying_every_local_batch_and_number_of_workers) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const auto whole = [&](int from, int to) {
    return std::uniform_int_distribution<>(from, to)(random);
  };
  int compared = 0;
  for (int round = 0; round < 400; ++round) {
    const Profile profile = fixtures::random_profile(random);
    const ThroughputModel model(profile);
    RankedGpus gpus{{}, whole(1, 3)};
    for (int i = whole(1, 4); i > 0; --i)
      gpus.types.push_back(std::string(1, char('a' + whole(0, 2))));
    BatchRules rules;
    rules.batch_min = whole(16, 60);
    rules.batch_max = rules.batch_min + whole(0, 120);
    const GradientNoise noise{std::exp(double(whole(-3, 3))), std::exp(double(whole(-3, 3))),
                              double(rules.batch_min)};
    const double expected = least_s_per_progress(gpus, rules, noise, model);
    const BatchChoice found = choose_goodput(gpus, rules, noise, model);
    BOOST_TEST_REQUIRE(found.configuration.has_value(), "seed " << seed << " round " << round);
    // No b·N inside the limits: the nearest batch there is.
    if (!std::isfinite(expected)) continue;
    BOOST_TEST_REQUIRE(std::abs(s_per_progress(*found.configuration, noise) / expected - 1) < 1e-8,
                       "seed " << seed << " round " << round);
    ++compared;
  }
  BOOST_TEST(compared > 200);
}

// Without noise every sample counts alike only up to B_0; with much noise the largest batch wins.
BOOST_AUTO_TEST_CASE(the_batch_follows_the_noise) {
  const ThroughputModel model(fixtures::resnet50());
  const RankedGpus gpus{{"v100", "v100", "p100"}, 2};
  BatchRules rules;
  rules.batch_min = 96;
  rules.batch_max = 2048;
  std::int64_t before = 0;
  for (const double ratio : {0.01, 0.3, 10.0, 1e4}) {
    const BatchChoice choice = choose_goodput(gpus, rules, {1, ratio, 96}, model);
    BOOST_TEST_REQUIRE(choice.configuration.has_value());
    const std::int64_t batch =
        choice.configuration->local_batch * choice.configuration->virtual_workers;
    BOOST_TEST(batch >= before);
    BOOST_TEST(batch >= rules.batch_min);
    BOOST_TEST(batch <= rules.batch_max);
    before = batch;
  }
  BOOST_TEST(before > 1900);
}

BOOST_AUTO_TEST_CASE(a_fixed_local_batch_stays) {
  const ThroughputModel model(fixtures::resnet50());
  BatchRules rules;
  rules.batch_min = 64;
  rules.batch_max = 1024;
  rules.fixed_local_batch = 32;
  const BatchChoice choice = choose_goodput({{"v100", "p100"}, 2}, rules, {1, 5, 64}, model);
  BOOST_TEST_REQUIRE(choice.configuration.has_value());
  BOOST_TEST(choice.configuration->local_batch == 32);
}

BOOST_AUTO_TEST_CASE(more_gpus_than_the_largest_batch_has_room_for_is_clamped) {
  const ThroughputModel model(fixtures::resnet50());
  BatchRules rules;
  rules.batch_min = 32;
  rules.batch_max = 32;
  const BatchChoice choice =
      choose_goodput({{"v100", "v100", "p100"}, 2}, rules, {1, 1, 32}, model);
  BOOST_TEST_REQUIRE(choice.configuration.has_value());
  BOOST_TEST(choice.clamped);
  BOOST_TEST(choice.configuration->local_batch * choice.configuration->virtual_workers == 96);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
