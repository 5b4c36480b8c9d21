#include <boost/test/unit_test.hpp>

#include "allocator/cost_model.h"
#include "allocator/error.h"

namespace jabas {
namespace {

std::string complaint(const std::string& text) {
  try {
    parse_prices(text, "prices");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cost_model_tests)

BOOST_AUTO_TEST_CASE(json_in_both_forms_and_csv_say_the_same) {
  for (const char* text :
       {R"({"v100": 3.06, "p100": 1})", R"( {"prices": {"v100": 3.06, "p100": 1.0}})",
        "type,usd_per_gpu_hour\n# spot\nv100, 3.06\r\n\np100,1 # cheap\n", "v100,3.06\np100,1"}) {
    const PriceList list = parse_prices(text, "F");
    BOOST_TEST(list.usd_per_gpu_h.size() == 2u);
    BOOST_TEST(list.usd_per_gpu_h.at("v100") == 3.06);
    BOOST_TEST(list.usd_per_gpu_h.at("p100") == 1);
    BOOST_TEST(list.source == "F");
  }
}

BOOST_AUTO_TEST_CASE(bad_prices_are_named) {
  BOOST_TEST(complaint("") ==
             "prices: is empty: must be JSON {\"TYPE\": price} or lines TYPE,PRICE");
  BOOST_TEST(complaint("{}") == "prices: has no price");
  BOOST_TEST(complaint("type,price\n") == "prices: has no price");
  BOOST_TEST(complaint(R"({"v100": -1})") ==
             "prices: v100: -1 is not accepted: must be a number of at least 0.0");
  BOOST_TEST(complaint(R"({"v100": "3"})") == "prices: v100: \"3\" is not a number");
  BOOST_TEST(complaint(R"({"prices": {"v100": 3}, "price": 1})") ==
             "prices: price: is not a known key");
  BOOST_TEST(complaint("v100,3\np100;2\n") ==
             "prices: line 2: 'p100;2' is not TYPE,PRICE_PER_GPU_HOUR");
  BOOST_TEST(complaint("v100,cheap") ==
             "prices: line 1: price 'cheap' of v100 is not accepted: must be a finite number of at "
             "least 0");
  for (const char* value : {"-1", "nan", "inf", "", "1 2"})
    BOOST_TEST(complaint(std::string("v100,") + value).starts_with("prices: line 1: price '"),
               value);
  BOOST_TEST(complaint("v100,1\nv100,2") == "prices: line 2: v100 has a price already");
  BOOST_TEST(complaint(",2") == "prices: line 1: ',2' names no GPU type");
}

BOOST_AUTO_TEST_CASE(builtin_prices_follow_the_speed) {
  const PriceList list = builtin_prices({"v100", "p100", "fpga"});
  BOOST_TEST(list.usd_per_gpu_h.at("v100") == 3.06, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(list.usd_per_gpu_h.at("p100") == 3.06 * 9.52 / 14.13,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(!list.usd_per_gpu_h.contains("fpga"));
}

BOOST_AUTO_TEST_CASE(a_set_costs_the_sum_of_its_gpus) {
  const PriceList list{{{"v100", 3}, {"p100", 1}}, "F"};
  BOOST_TEST(price_per_h({{"v100", 2}, {"p100", 1}}, list) == 7);
  BOOST_TEST(price_per_h({{"t4", 0}}, list) == 0);
  BOOST_CHECK_EXCEPTION(price_per_h({{"t4", 1}}, list), InputError, [](const InputError& error) {
    return std::string(error.what()) ==
           "no price for GPU type t4 (F): give one with --jabas-prices";
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas
