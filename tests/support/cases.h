// Data with known answers, apart from the repository: the folder that JABAS_CASES names. Suites
// that read it have the precondition cases_given and are skipped without it.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

namespace jabas {

inline boost::test_tools::assertion_result cases_given(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result given(std::getenv("JABAS_CASES") != nullptr);
  if (!given) given.message() << "JABAS_CASES names no folder with cases";
  return given;
}

inline std::string cases_path(const std::string& relative) {
  return std::string(std::getenv("JABAS_CASES")) + "/" + relative;
}

}  // namespace jabas
