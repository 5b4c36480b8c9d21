// The prediction of one set that must be possible.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>

#include "allocator/prediction.h"

namespace jabas::fixtures {

inline CandidateResult predicted(const DecisionState& state, const GpuCounts& gpus) {
  std::string cause;
  const auto result = Predictor(state).predict(gpus, &cause);
  BOOST_REQUIRE_MESSAGE(result.has_value(), cause);
  return *result;
}

}  // namespace jabas::fixtures
