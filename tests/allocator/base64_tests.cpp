#include <boost/test/unit_test.hpp>
#include <string>

#include "allocator/base64.h"

using namespace jabas;

BOOST_AUTO_TEST_SUITE(base64_tests)

// RFC 4648, section 10.
BOOST_AUTO_TEST_CASE(vectors_of_the_standard) {
  const std::pair<std::string, std::string> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    BOOST_TEST(base64_encode(bytes) == text);
    BOOST_TEST(base64_decode(text).value_or("nothing") == bytes);
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_no_encoder_writes) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zg===", "====", "Z===", "Zh==", "Zm9=", "Zm 8", "Zm8-", "=Zg="}) {
    BOOST_TEST(!base64_decode(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
