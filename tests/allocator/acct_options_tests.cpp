#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "allocator/acct_options.h"
#include "allocator/error.h"

using namespace jabas::acct;

namespace {

const Environment kHome{"", "", "", "/home/ada"};

Options parse(const std::vector<std::string>& arguments, const Environment& environment = kHome) {
  return parse_options(arguments, environment);
}

std::string error(const std::vector<std::string>& arguments) {
  try {
    parse(arguments);
  } catch (const jabas::UsageError& caught) {
    return caught.what();
  }
  return "no error";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(acct_options_tests)

BOOST_AUTO_TEST_CASE(long_short_and_abbreviated_options) {
  const Options options =
      parse({"-j", "12,13.batch", "--jobs=14_2", "-P", "-n", "-S", "now-1hours", "--endt", "now",
             "-o", "jobid", "--format=epoch", "--delimiter", ";", "--json"});
  BOOST_TEST(options.jobs == (std::vector<std::string>{"12", "13", "14_2"}),
             boost::test_tools::per_element());
  BOOST_TEST((options.style == TableStyle::kParsable2));
  BOOST_TEST(!options.header);
  BOOST_TEST(options.json);
  BOOST_TEST(*options.start == "now-1hours");
  BOOST_TEST(*options.end == "now");
  BOOST_TEST(options.format == "jobid,epoch");
  BOOST_TEST(options.delimiter == ";");
  BOOST_TEST((parse({"-p"}).style == TableStyle::kParsable));
}

BOOST_AUTO_TEST_CASE(tasks_and_views) {
  BOOST_TEST((parse({"-e"}).task == Task::kHelpFormat));
  BOOST_TEST((parse({"--helpformat", "--members"}).view == View::kMembers));
  BOOST_TEST((parse({"-V"}).task == Task::kVersion));
  BOOST_TEST((parse({"-h"}).task == Task::kHelp));
  BOOST_TEST((parse({"--batch"}).view == View::kBatch));
  const Options why = parse({"-j1", "--why", "3"});
  BOOST_TEST((why.view == View::kWhy));
  BOOST_TEST(why.why_epoch == 3);
}

BOOST_AUTO_TEST_CASE(environment_gives_defaults) {
  const Environment set{"/state", "jobid,cost", "", "/home/ada"};
  BOOST_TEST(parse({}).state == "/home/ada/.jabas");
  BOOST_TEST(parse({}).state_is_default);
  BOOST_TEST(parse({}, set).state == "/state");
  BOOST_TEST(!parse({}, set).state_is_default);
  BOOST_TEST(parse({"--state", "/other"}, set).state == "/other");
  BOOST_TEST(parse({}, set).format == "jobid,cost");
  BOOST_TEST(parse({"-o", "epoch"}, set).format == "epoch");
  BOOST_TEST(parse({"--members"}, set).format == "");  // fields of another table
}

BOOST_AUTO_TEST_CASE(errors_read_like_those_of_sacct) {
  BOOST_TEST(error({"--nonsense"}) == "unrecognized option '--nonsense'");
  BOOST_TEST(error({"-z"}) == "invalid option -- 'z'");
  BOOST_TEST(error({"-j"}) == "option '--jobs' requires an argument");
  BOOST_TEST(error({"--state"}) == "option '--state' requires an argument");
  BOOST_TEST(error({"--state="}) == "option '--state' requires a directory");
  BOOST_TEST(error({"12"}) == "unexpected argument '12'");
  BOOST_TEST(error({"-j", "abc"}) == "Invalid job id specified: \"abc\"");
  BOOST_TEST(error({"-j", "1,,2"}) == "Invalid job id specified: \"\"");
  BOOST_TEST(error({"-j", "../1"}) == "Invalid job id specified: \"../1\"");
  BOOST_TEST(error({"-j1", "--why=0"}) ==
             "Invalid epoch specified: \"0\"; accepted is a whole number from 1");
  BOOST_TEST(error({"--why=2"}) == "--why needs one job: -j ID --why EPOCH");
  BOOST_TEST(error({"-j1,2", "--why=2"}) == "--why needs one job: -j ID --why EPOCH");
  BOOST_TEST(error({"--members", "--batch"}) == "--members, --batch and --why exclude each other");
}

BOOST_AUTO_TEST_SUITE_END()
