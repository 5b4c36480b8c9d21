#include "allocator/candidate_search.h"

#include <algorithm>
#include <limits>
#include <set>

#include "allocator/candidate_box.h"
#include "allocator/candidates.h"
#include "allocator/objective.h"
#include "allocator/search_proof.h"

namespace jabas {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Bounds are taken to be that much lower, so that rounding never hides a set.
constexpr double kRounding = 1e-9;
// So many candidates deserve a first look around.
constexpr double kSeededFrom = 2000;
// Bands of prices in which a box is bounded where money counts.
constexpr std::size_t kBands = 6;
const Objective kFastest{.kind = Objective::Kind::kTime, .eps = -1};

bool counts_money(const Objective& goal) {
  return goal.kind != Objective::Kind::kPaper &&
         !(goal.kind == Objective::Kind::kTime && goal.eps < 0);
}

class Search {
 public:
  Search(const DecisionState& state, Predictor& predictor, const Objective& objective,
         const std::optional<CandidateResult>& present, bool leave, const SearchRules& rules)
      : predictor_(predictor),
        objective_(objective),
        change_(state, predictor, present ? &*present : nullptr),
        rules_(rules),
        unit_(std::max(state.unit, 1)) {
    for (const CountRange& range : count_ranges(state)) {
      if (!predictor.model().find(range.type)) continue;
      first_.push_back(range.first);
      all_.lo.push_back(0);
      all_.hi.push_back((range.last - range.first) / unit_);
    }
    proof_.candidates = all_.sets();
    const GpuCounts now = present_set(state);
    const std::optional<Counts> at = steps_of(now);
    if (leave) {
      if (at) done_.insert(*at), proof_.candidates -= 1;
    } else if (!now.empty() && !at) {
      proof_.candidates += 1;
      outside_ = now;
    }
  }

  SearchResult run() {
    if (outside_) predict_outside();
    const bool all = proof_.candidates <= rules_.predict_all_up_to;
    if (all) {
      predict_all();
    } else {
      if (needs_fastest(objective_)) look_for_fastest();
      proof_.cut_short = !look_for(objective_, kBestSets, rules_.most_effort);
      proof_.left = left_.rank;
      // Only for the reasons: whatever is found is named.
      if (objective_.kind == Objective::Kind::kCost) look_for_fastest();
    }
    rank(&results_.ranked, objective_);
    certify(all);
    return std::move(results_);
  }

 private:
  // Nothing if the set lies outside the ranges.
  std::optional<Counts> steps_of(GpuCounts gpus) const {
    Counts steps;
    for (std::size_t t = 0; t < first_.size(); ++t) {
      const int above = gpus[predictor_.types()[t]] - first_[t];
      if (above < 0 || above % unit_ != 0 || above / unit_ > all_.hi[t]) return std::nullopt;
      steps.push_back(above / unit_);
    }
    if (normalized(predictor_.gpus_of(counts(steps))) != normalized(gpus)) return std::nullopt;
    return steps;
  }
  Counts counts(const Counts& steps) const {
    Counts result = first_;
    for (std::size_t t = 0; t < steps.size(); ++t) result[t] += steps[t] * unit_;
    return result;
  }

  Place place(const CandidateResult& result, const Objective& goal) const {
    return {rank_of(result, goal, fastest_s_), result.rest_s, result.rest_cost};
  }
  Place bound_place(const CandidateResult& least, const Objective& goal) const {
    CandidateResult lower = least;
    lower.rest_s *= 1 - kRounding;
    lower.rest_cost *= 1 - kRounding;
    lower.next_epoch_s *= 1 - kRounding;
    return place(lower, goal);
  }

  void add(CandidateResult result) {
    change_.add(&result);
    results_.ranked.push_back(std::move(result));
  }
  void predict_outside() {
    std::string cause;
    if (std::optional<CandidateResult> result = predictor_.predict(*outside_, &cause))
      add(std::move(*result));
    else
      ++results_.rejected[cause];
    ++proof_.predicted;
  }
  // False when it was given up as hopeless.
  bool predict(const Counts& steps, const Predictor::Hopeless& hopeless) {
    if (done_.contains(steps)) return true;
    std::string cause;
    if (std::optional<CandidateResult> result =
            predictor_.predict_counts(counts(steps), hopeless, &cause))
      add(std::move(*result));
    else if (cause.empty())
      return false;
    else
      ++results_.rejected[cause];
    ++proof_.predicted;
    done_.insert(steps);
    return true;
  }
  void predict_all() {
    Counts steps = all_.lo;
    for (std::size_t t = 0; t < steps.size() || t == 0;) {
      predict(steps, [](const CandidateResult&) { return false; });
      for (t = 0; t < steps.size() && steps[t] == all_.hi[t]; ++t) steps[t] = 0;
      if (t == steps.size()) return;
      ++steps[t];
    }
  }

  void look_for_fastest() {
    const bool known = look_for(kFastest, 1, rules_.most_effort / 2);
    for (const CandidateResult& r : results_.ranked) fastest_s_ = std::min(fastest_s_, r.rest_s);
    if (!known && needs_fastest(objective_))
      proof_.fastest = SearchProof::Fastest{fastest_s_, left_.rest_s};
  }

  // Predicts, best bounds first, until no set that was not predicted can be among the `count` best.
  // False if that took too much.
  bool look_for(const Objective& goal, std::size_t count, std::uint64_t most_effort) {
    const std::uint64_t effort_end = predictor_.effort() + most_effort;
    best_ = BestPlaces(count);
    for (const CandidateResult& r : results_.ranked) best_.add(place(r, goal));
    left_ = nowhere();
    if (proof_.candidates > kSeededFrom) seed(goal);
    OpenBoxes open;
    push(goal, {Place{}, all_, {}}, &open);
    while (!open.empty()) {
      Open one = open.top();
      if (best_.cutoff() < one.bound || predictor_.effort() >= effort_end) break;
      open.pop();
      if (one.box.lo == one.box.hi) {
        look_at_set(goal, one);
      } else if (!one.tabled) {
        tighten(goal, &one);
        if (one.prices.from <= one.prices.to) open.push(std::move(one));
      } else {
        split(goal, one, &open);
      }
    }
    if (open.empty()) return true;
    leave(open.top().bound);
    return best_.cutoff() < open.top().bound;
  }

  // A few good sets to begin with, so that bounds rule out something from the start: from the
  // largest set in ever smaller steps of one type to something better.
  void seed(const Objective& goal) {
    const auto never = [](const CandidateResult&) { return false; };
    const auto try_set = [&](const Counts& steps) {
      const std::size_t before = results_.ranked.size();
      predict(steps, never);
      if (results_.ranked.size() == before) return nowhere();
      const Place found = place(results_.ranked.back(), goal);
      best_.add(found);
      return found;
    };
    Counts at = all_.hi;
    Place best = try_set(at);
    int widest = 1;
    for (const int last : all_.hi) widest = std::max(widest, last);
    for (int step = widest; step >= 1; step /= 2) {
      for (std::size_t move = 0; move < 2 * at.size(); ++move) {
        Counts next = at;
        int& moved = next[move / 2];
        moved = std::clamp(moved + (move % 2 == 0 ? -step : step), 0, all_.hi[move / 2]);
        if (next == at) continue;
        const Place found = try_set(next);
        if (!(found < best)) continue;
        best = found;
        at = next;
      }
    }
  }

  void look_at_set(const Objective& goal, const Open& one) {
    const std::size_t before = results_.ranked.size();
    Place sure = one.bound;
    const Counts at = counts(one.box.lo);
    const auto hopeless = [&](CandidateResult least) {
      change_.add_least(at, at, &least);
      sure = std::max(sure, bound_place(least, goal));
      return best_.cutoff() < sure;
    };
    if (!predict(one.box.lo, hopeless)) leave(sure);
    for (std::size_t i = before; i < results_.ranked.size(); ++i)
      best_.add(place(results_.ranked[i], goal));
  }

  // one: with its parent's bound.
  void push(const Objective& goal, Open one, OpenBoxes* open) {
    const Box& box = one.box;
    ++proof_.boxes;
    const auto never = [](const CandidateResult&) { return false; };
    const Counts lo = counts(box.lo), hi = counts(box.hi);
    std::optional<CandidateResult> least;
    const bool any = std::any_of(hi.begin(), hi.end(), [](int n) { return n > 0; });
    if (any) least = predictor_.line_bound(lo, hi);
    if (!least) {
      // A single set tells its own cause.
      if (box.sets() > 1)
        results_.rejected["no local batch fits all of its GPU types"] += int(box.sets());
      else
        predict(box.lo, never);
      impossible_ += box.sets() > 1 ? box.sets() : 0;
      return;
    }
    change_.add_least(lo, hi, &*least);
    one.bound = std::max(one.bound, bound_place(*least, goal));
    if (best_.cutoff() < one.bound) return leave(one.bound);
    open->push(std::move(one));
  }

  // Price bands that cannot hold one of the best are left, and bounds are brought closer as long as
  // that promises to leave them all.
  void tighten(const Objective& goal, Open* one) {
    ++proof_.boxes;
    const Counts lo = counts(one->box.lo), hi = counts(one->box.hi);
    const auto place_of = [&](CandidateResult bound) {
      change_.add_least(lo, hi, &bound);
      return bound_place(bound, goal);
    };
    const auto judge = [&](Predictor::BandBounds* bounds) {
      bool any = false, promising = true;
      for (Predictor::BandBound& band : *bounds) {
        if (!band.open) continue;
        const Place place = place_of(band.least);
        band.open = !(best_.cutoff() < place);
        if (!band.open) leave(std::max(one->bound, place));
        any = any || band.open;
        promising = promising && (!band.open || best_.cutoff() < place_of(band.expected));
      }
      return any && promising;
    };
    bool first = true;
    const auto first_then_judge = [&](Predictor::BandBounds* bounds) {
      const bool more = judge(bounds);
      return std::exchange(first, false) || more;
    };
    Predictor::BandBounds bounds = predictor_.band_bounds(
        lo, hi, one->prices, counts_money(goal) ? kBands : 1, first_then_judge);
    judge(&bounds);
    Place least = nowhere();
    PriceBand open{kInfinity, 0};
    for (const Predictor::BandBound& band : bounds) {
      if (!band.open) continue;
      least = std::min(least, place_of(band.least));
      open = {std::min(open.from, band.prices.from), std::max(open.to, band.prices.to)};
    }
    one->prices = open;
    one->bound = std::max(one->bound, least);
    one->tabled = true;
  }

  // In two: first into sets with and without a type (its slowest step, its local batches and its
  // network bind all others), then across the type that matters most.
  void split(const Objective& goal, const Open& one, OpenBoxes* open) {
    const Box& box = one.box;
    std::size_t at = 0;
    double most = -1;
    for (std::size_t t = 0; t < first_.size(); ++t) {
      if (box.hi[t] == box.lo[t]) continue;
      const bool may_miss = first_[t] + box.lo[t] == 0;
      const double width = may_miss ? kInfinity : (box.hi[t] - box.lo[t]) * predictor_.weight(t);
      if (width > most) {
        most = width;
        at = t;
      }
    }
    Box low = one.box, high = one.box;
    low.hi[at] = most == kInfinity ? box.lo[at] : (box.lo[at] + box.hi[at]) / 2;
    high.lo[at] = low.hi[at] + 1;
    push(goal, {one.bound, low, one.prices}, open);
    push(goal, {one.bound, high, one.prices}, open);
  }

  void leave(const Place& bound) { left_ = std::min(left_, bound); }

  void certify(bool all) {
    const double unseen = proof_.candidates - double(proof_.predicted) - impossible_;
    proof_.exhaustive = all || unseen <= 0;
    proof_.place = std::min(results_.ranked.size(), kBestSets);
    if (proof_.place > 0)
      proof_.last = rank_of(results_.ranked[proof_.place - 1], objective_, fastest_s_);
    results_.certificate = to_text(proof_);
    if (proof_.exhaustive) return;
    results_.rejected["cannot be among the " + std::to_string(kBestSets) + " best (bound)"] =
        int(std::min(unseen, 2e9));
  }

  Predictor& predictor_;
  const Objective& objective_;
  ChangeCost change_;
  SearchRules rules_;
  int unit_;
  Counts first_;
  Box all_;
  double impossible_ = 0;             // sets in boxes of which none can run
  std::optional<GpuCounts> outside_;  // the present set, if it lies outside the ranges
  std::set<Counts> done_;
  SearchResult results_;
  double fastest_s_ = kInfinity;
  BestPlaces best_{1};
  Place left_;
  SearchProof proof_;
};

}  // namespace

SearchResult search_candidates(const DecisionState& state, Predictor& predictor,
                               const Objective& objective,
                               const std::optional<CandidateResult>& present, bool leave,
                               const SearchRules& rules) {
  return Search(state, predictor, objective, present, leave, rules).run();
}

}  // namespace jabas
