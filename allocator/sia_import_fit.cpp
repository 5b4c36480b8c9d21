#include "allocator/sia_import_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "allocator/error.h"

namespace jabas {
namespace {

constexpr std::size_t kTerms = 3;
constexpr std::size_t kDoublings = 1;
constexpr int kRounds = 25;            // of reweighting; the fit moves no more long before
constexpr double kNoiseOfStep = 1e-3;  // deviations below this share of the step weigh alike
constexpr double kSingular = 1e-9;

using Terms = std::array<double, kTerms>;
using Used = std::array<bool, kTerms>;

Terms terms_of(const SyncSample& sample, const Used& used) {
  const Terms all = {1, std::log2(sample.gpus / 2.0), sample.nodes >= 3 ? 1.0 : 0.0};
  Terms terms{};
  for (std::size_t i = 0; i < kTerms; ++i) terms[i] = used[i] ? all[i] : 0;
  return terms;
}

double value(const Terms& coefficients, const Terms& terms) {
  double sum = 0;
  for (std::size_t i = 0; i < kTerms; ++i) sum += coefficients[i] * terms[i];
  return sum;
}

// Weighted least squares by the normal equations and elimination; nothing if they have no single
// solution. Terms that are not used get 0.
std::optional<Terms> weighted_fit(const std::vector<SyncSample>& samples,
                                  const std::vector<double>& weights, const Used& used) {
  std::array<std::array<double, kTerms + 1>, kTerms> rows{};
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const Terms terms = terms_of(samples[s], used);
    for (std::size_t i = 0; i < kTerms; ++i) {
      for (std::size_t j = 0; j < kTerms; ++j) rows[i][j] += weights[s] * terms[i] * terms[j];
      rows[i][kTerms] += weights[s] * terms[i] * samples[s].exposed_s;
    }
  }
  for (std::size_t i = 0; i < kTerms; ++i)
    if (!used[i]) rows[i][i] = 1;
  // The matrix is positive semidefinite: no pivoting is needed.
  for (std::size_t i = 0; i < kTerms; ++i) {
    double before = 0;
    for (std::size_t s = 0; s < samples.size() && used[i]; ++s)
      before += weights[s] * terms_of(samples[s], used)[i] * terms_of(samples[s], used)[i];
    if (used[i] && rows[i][i] <= kSingular * before) return std::nullopt;
    for (std::size_t k = i + 1; k < kTerms; ++k) {
      const double factor = rows[k][i] / rows[i][i];
      for (std::size_t j = i; j <= kTerms; ++j) rows[k][j] -= factor * rows[i][j];
    }
  }
  Terms solution{};
  for (std::size_t i = kTerms; i-- > 0;) {
    double rest = rows[i][kTerms];
    for (std::size_t j = i + 1; j < kTerms; ++j) rest -= rows[i][j] * solution[j];
    solution[i] = rest / rows[i][i];
  }
  return solution;
}

// Least absolute deviations by reweighted least squares.
std::optional<Terms> robust_fit(const std::vector<SyncSample>& samples, const Used& used) {
  std::vector<double> weights(samples.size(), 1);
  std::optional<Terms> fit = weighted_fit(samples, weights, used);
  for (int round = 0; fit && round < kRounds; ++round) {
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const double deviation =
          std::abs(samples[s].exposed_s - value(*fit, terms_of(samples[s], used)));
      weights[s] = 1 / std::max(deviation, kNoiseOfStep * samples[s].step_s);
    }
    const std::optional<Terms> next = weighted_fit(samples, weights, used);
    if (!next) break;
    fit = next;
  }
  return fit;
}

}  // namespace

ExposedSync fit_exposed_sync(const std::vector<SyncSample>& samples) {
  JABAS_ASSERT(!samples.empty(), "there is a sample to fit");
  const SyncSample& first = samples.front();
  const auto any = [&](auto differs) {
    return std::any_of(samples.begin(), samples.end(), differs);
  };
  Used used = {true, any([&](const SyncSample& s) { return s.gpus != first.gpus; }),
               any([&](const SyncSample& s) { return (s.nodes >= 3) != (first.nodes >= 3); })};
  std::optional<Terms> fit;
  while (!(fit = robust_fit(samples, used)) || (*fit)[kDoublings] < 0) {
    // Contradicting doublings go first, then what cannot be told apart, from the last.
    const std::size_t leave_out = fit || !used[2] ? kDoublings : 2;
    used[leave_out] = false;
  }
  return {0, (*fit)[0], (*fit)[1], (*fit)[2]};
}

}  // namespace jabas
