#include <boost/test/unit_test.hpp>
#include <random>

#include "allocator/candidate_search.h"
#include "allocator/candidates.h"
#include "allocator/objective.h"
#include "tests/allocator/random_states.h"

namespace jabas {
namespace {

struct Searched {
  std::vector<CandidateResult> all;  // every candidate, predicted one by one
  SearchResult found;
};

Searched search(const DecisionState& state, const BatchForecast& forecast, bool leave,
                const SearchRules& rules) {
  Predictor predictor(state, forecast);
  std::string cause;
  std::optional<CandidateResult> present;
  if (!state.start) present = predictor.predict(present_set(state), &cause);
  const Objective rest = for_the_rest(state.objective, state.elapsed_s, state.spent_cost);
  Searched searched;
  const ChangeCost change(state, predictor, present ? &*present : nullptr);
  leave = leave && present;
  for (const GpuCounts& set : candidates(state)) {
    if (leave && set == present_set(state)) continue;
    std::optional<CandidateResult> result = predictor.predict(set, &cause);
    if (!result) continue;
    change.add(&*result);
    searched.all.push_back(*result);
  }
  rank(&searched.all, rest);
  searched.found = search_candidates(state, predictor, rest, present, leave, rules);
  return searched;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(candidate_search_tests)

BOOST_AUTO_TEST_CASE(the_best_by_bounds_are_the_best_of_all) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  int bounded = 0;
  for (int round = 0; round < 1000; ++round) {
    const DecisionState state = fixtures::random_state(random);
    const BatchForecast forecast = fixtures::random_forecast(state, random);
    const auto [all, found] = search(state, forecast, random() % 4 == 0,
                                     {.predict_all_up_to = random() % 8 == 0 ? 1e9 : 0});
    const std::string where = "seed " + std::to_string(seed) + " round " + std::to_string(round) +
                              " " + to_text(state.objective) + " " + found.certificate;
    if (found.ranked.size() < all.size()) ++bounded;
    const std::size_t best = std::min(kBestSets, all.size());
    BOOST_TEST_REQUIRE(found.ranked.size() >= best, where);
    for (std::size_t i = 0; i < best; ++i) {
      BOOST_TEST_REQUIRE(to_list(found.ranked[i].gpus) == to_list(all[i].gpus),
                         where << " place " << i);
      BOOST_TEST_REQUIRE(found.ranked[i].rest_s == all[i].rest_s, where << " place " << i);
      BOOST_TEST_REQUIRE(found.ranked[i].score == all[i].score, where << " place " << i);
    }
  }
  BOOST_TEST(bounded > 100);
}

// No set of a box beats its bounds, by lines or by tables in the band of its price, in time, cost,
// epoch or in what changing to it adds.
BOOST_AUTO_TEST_CASE(a_bound_is_never_above_what_is_predicted) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  const auto never = [](const CandidateResult&) { return false; };
  const auto go_on = [](const Predictor::BandBounds*) { return true; };
  for (int round = 0; round < 300; ++round) {
    const DecisionState state = fixtures::random_state(random);
    Predictor predictor(state, fixtures::random_forecast(state, random));
    std::string cause;
    std::optional<CandidateResult> present;
    if (!state.start) present = predictor.predict(present_set(state), &cause);
    const ChangeCost change(state, predictor, present ? &*present : nullptr);
    for (int box = 0; box < 4; ++box) {
      Counts lo, hi;
      for (std::size_t t = 0; t < predictor.types().size(); ++t) {
        lo.push_back(int(random() % 4));
        hi.push_back(lo.back() + int(random() % 3));
      }
      Counts set = lo;
      for (std::size_t t = 0; t < lo.size(); ++t)
        set[t] += int(random() % unsigned(hi[t] - lo[t] + 1));
      auto predicted = predictor.predict_counts(set, never, &cause);
      if (!predicted) continue;
      const CandidateResult unchanged = *predicted;
      change.add(&*predicted);
      const std::string where = "seed " + std::to_string(seed) + " round " + std::to_string(round) +
                                " " + to_list(predicted->gpus);
      const auto below = [&](CandidateResult bound) {
        const auto at_most = [](const CandidateResult& a, const CandidateResult& b) {
          const double most = 1 + 1e-9;
          return a.rest_s <= b.rest_s * most && a.rest_cost <= b.rest_cost * most &&
                 a.next_epoch_s <= b.next_epoch_s * most;
        };
        if (!at_most(bound, unchanged)) return false;
        if (present && predicted->gpus == present->gpus) return true;
        change.add_least(lo, hi, &bound);
        return at_most(bound, *predicted);
      };
      const auto by_lines = predictor.line_bound(lo, hi);
      BOOST_TEST_REQUIRE(by_lines.has_value(), where);
      BOOST_TEST_REQUIRE(below(*by_lines), where << " lines");
      const double price = predictor.price_per_h(predicted->gpus);
      for (const std::size_t most_bands : {1, 4, 8}) {
        const auto bands = predictor.band_bounds(lo, hi, {}, most_bands, go_on);
        BOOST_TEST_REQUIRE(!bands.empty(), where);
        bool in_some = false;
        for (const Predictor::BandBound& band : bands) {
          if (price < band.prices.from || price > band.prices.to) continue;
          in_some = true;
          BOOST_TEST_REQUIRE(below(band.least), where << " of " << bands.size() << " bands");
        }
        BOOST_TEST_REQUIRE(in_some, where << " price " << price);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_certificate_says_how) {
  DecisionState state = fixtures::two_type_state();
  BOOST_TEST(search(state, forecast_batch(state), false, {}).found.certificate ==
             "exhaustive over 9 candidates");
  for (auto& [type, supply] : state.supply) supply.max = supply.free = 12;
  state.adaptive = true;
  state.batch.batch_max = 4096;
  state.wanted_batch = 4096;
  const SearchResult bounded = search(state, forecast_batch(state), false, {}).found;
  BOOST_TEST(bounded.certificate.starts_with("exact by bounds: "), bounded.certificate);
  BOOST_TEST(bounded.certificate.find(" of 169 candidates predicted, ") != std::string::npos,
             bounded.certificate);
  BOOST_TEST(bounded.certificate.ends_with(" of number 10"), bounded.certificate);
  const SearchResult cut = search(state, forecast_batch(state), false, {.most_effort = 200}).found;
  BOOST_TEST(cut.certificate.starts_with("NOT exact, the search was cut short: "), cut.certificate);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
