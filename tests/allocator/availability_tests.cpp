// Which GPUs can be had when.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "allocator/csv_table.h"
#include "allocator/error.h"
#include "allocator/simulator/availability.h"

namespace jabas::sim {
namespace {

CsvTable changes(const std::string& rows) {
  return CsvTable::parse("time_s,type,gpus,wait_s\n" + rows, "a.csv");
}
bool says(const Error& error, const std::string& text) {
  BOOST_TEST_MESSAGE(error.what());
  return std::string(error.what()).find(text) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(availability_tests)

BOOST_AUTO_TEST_CASE(without_changes_the_cluster_is_there_all_the_time) {
  const Availability availability({{"a", 4}, {"b", 2}});
  BOOST_TEST(to_list(availability.gpus(1e9)) == "a:4,b:2");
  BOOST_TEST(availability.wait_s("a", 0) == 0);
  BOOST_TEST(availability.next_change(0) == std::numeric_limits<double>::infinity());
}

BOOST_AUTO_TEST_CASE(a_row_counts_from_its_time_on_until_the_next_of_its_type) {
  const Availability availability({{"a", 4}, {"b", 2}},
                                  changes("200,a,9,0\n100,a,1,30\n150,b,0,5\n"));
  BOOST_TEST(to_list(availability.gpus(99.9)) == "a:4,b:2");
  BOOST_TEST(to_list(availability.gpus(100)) == "a:1,b:2");
  BOOST_TEST(to_list(availability.gpus(199)) == "a:1");
  BOOST_TEST(to_list(availability.gpus(200)) == "a:4");  // no more than the cluster has
  BOOST_TEST(availability.wait_s("a", 150) == 30);
  BOOST_TEST(availability.wait_s("a", 200) == 0);
  BOOST_TEST(availability.wait_s("b", 149) == 0);
  BOOST_TEST(availability.next_change(0) == 100);
  BOOST_TEST(availability.next_change(100) == 150);
  BOOST_TEST(availability.next_change(150) == 200);
}

BOOST_AUTO_TEST_CASE(wrong_rows_are_named) {
  const auto refused = [](const std::string& rows, const std::string& text) {
    BOOST_CHECK_EXCEPTION(Availability({{"a", 4}}, changes(rows)), InputError,
                          [&](const Error& error) { return says(error, text); });
  };
  refused("0,c,1,0\n", "line 2: type: 'c' is not a GPU type of the cluster a:4");
  refused("-1,a,1,0\n", "line 2: time_s");
  refused("0,a,1.5,0\n", "line 2: gpus");
  refused("0,a,1,nan\n", "line 2: wait_s");
}

BOOST_AUTO_TEST_CASE(a_cluster_is_read_from_its_text) {
  BOOST_TEST(to_list(parse_cluster("a:4,b:2", "--cluster")) == "a:4,b:2");
  BOOST_TEST(to_list(parse_cluster("a:4+b:2", "--cluster")) == "a:4,b:2");
  for (const char* text :
       {"", "a", "a:", ":4", "a:-1", "a:1.5", "a:1,", "a:1,a:2", "a:0", "a:1000000"})
    BOOST_CHECK_EXCEPTION(parse_cluster(text, "--cluster"), UsageError,
                          [](const Error& error) { return says(error, "--cluster="); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace jabas::sim
