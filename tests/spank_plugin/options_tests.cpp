#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

#include "spank_plugin/options.h"
#include "tests/support/temp_dir.h"

namespace {

using jabas::Options;
using jabas::parse_option;

const std::map<std::string, std::string> kAccepted = {
    {"jabas-gpus", "TYPE:MIN-MAX[,TYPE:MIN-MAX...], such as v100:0-4,p100:2-4"},
    {"jabas-unit", "a whole number of GPUs per member job, 1 to 1024"},
    {"jabas-objective",
     "time[:EPS] with EPS >= 0, cost, balanced[:ALPHA] with 0 <= ALPHA < 1, value:V with V > 0, "
     "deadline:T with T as 8h, 90m, 600s or in the forms of --time, budget:X with X > 0, paper"},
    {"jabas-batch", "MIN-MAX with 1 <= MIN <= MAX, such as 128-4096"},
    {"jabas-prices", "a readable file, or an http, https or file URL"},
    {"jabas-profile", "a readable file"},
    {"jabas-wait", "minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM or D-HH:MM:SS"},
    {"jabas-state", "an absolute path of a directory that all nodes share"},
    {"jabas-member",
     "'TYPE:sbatch options;TYPE:sbatch options...' without --wrap, --job-name, --output, --gres, "
     "--time, --comment, --export and --array"}};

// The whole line must be "--NAME=VALUE: PROBLEM; accepted: FORM", and nothing may be stored.
void refused(const std::string& name, const std::string& value, const std::string& problem,
             Options options = {}) {
  const auto before = to_arguments(options);
  BOOST_TEST(parse_option(name, value, {"v100", "p100"}, true, &options) ==
             "--" + name + "=" + value + ": " + problem + "; accepted: " + kAccepted.at(name));
  BOOST_TEST(to_arguments(options) == before, boost::test_tools::per_element());
}

Options accepted(const std::string& name, const std::string& value, Options options = {}) {
  BOOST_TEST(parse_option(name, value, {"v100", "p100"}, true, &options) == "");
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(options_tests)

BOOST_AUTO_TEST_CASE(gpus_are_read_in_order) {
  const Options options = accepted("jabas-gpus", "v100:0-4,p100:2-2");
  BOOST_TEST(options.on);
  BOOST_REQUIRE(options.gpus.size() == 2);
  BOOST_TEST(options.gpus[0].type == "v100");
  BOOST_TEST(options.gpus[0].min == 0);
  BOOST_TEST(options.gpus[0].max == 4);
  BOOST_TEST(options.gpus[1].type == "p100");
  BOOST_TEST(options.gpus[1].min == 2);
  BOOST_TEST(options.gpus[1].max == 2);
}

BOOST_AUTO_TEST_CASE(wrong_gpus_are_refused) {
  refused("jabas-gpus", "", "no value");
  refused("jabas-gpus", "-n1", "a value cannot start with '-' (write --jabas-gpus=VALUE)");
  refused("jabas-gpus", "v100", "'v100' is not TYPE:MIN-MAX");
  refused("jabas-gpus", "v100:2", "type v100: '2' is not MIN-MAX");
  refused("jabas-gpus", "v100:a-2", "type v100: 'a-2' is not MIN-MAX in whole numbers");
  refused("jabas-gpus", "v100:1-", "type v100: '1-' is not MIN-MAX in whole numbers");
  refused("jabas-gpus", "v100:1--2", "type v100: '1--2' is not MIN-MAX in whole numbers");
  refused("jabas-gpus", "v100:1-99999999999999999999",
          "type v100: '1-99999999999999999999' is not MIN-MAX in whole numbers");
  refused("jabas-gpus", "v100:1-100001", "type v100: MAX 100001 is above 100000");
  refused("jabas-gpus", "v100:3-2", "type v100: MIN 3 is above MAX 2");
  refused("jabas-gpus", "v100:0-0", "type v100: MAX 0 is below 1");
  refused("jabas-gpus", "v100:0-1,", "'' is not TYPE:MIN-MAX");
  refused("jabas-gpus", ":0-1", "a GPU type is missing");
  refused("jabas-gpus", "v100:0-1,v100:0-2", "type v100 is given twice");
  refused("jabas-gpus", "gpu:v100:0-1",
          "'gpu:v100' is not a GPU type (letters, digits, '_', '.' and '-')");
  refused("jabas-gpus", "a100:0-1", "GPU type 'a100' is unknown; this cluster has p100, v100");
}

BOOST_AUTO_TEST_CASE(types_are_case_sensitive_and_unchecked_when_unknown) {
  refused("jabas-gpus", "V100:0-1", "GPU type 'V100' is unknown; this cluster has p100, v100");
  Options options;
  BOOST_TEST(parse_option("jabas-gpus", "1g.5gb:0-1", {}, true, &options) == "");
}

BOOST_AUTO_TEST_CASE(unit) {
  BOOST_TEST(accepted("jabas-unit", "4").unit == 4);
  refused("jabas-unit", "0", "0 is outside 1 to 1024");
  refused("jabas-unit", "1025", "1025 is outside 1 to 1024");
  refused("jabas-unit", "1.5", "'1.5' is not a whole number");
  refused("jabas-unit", "+1", "'+1' is not a whole number");
}

BOOST_AUTO_TEST_CASE(objective) {
  for (const char* text : {"time", "time:0", "time:0.1", "cost", "balanced", "balanced:0",
                           "balanced:0.99", "value:4"}) {
    BOOST_TEST(accepted("jabas-objective", text).objective == text);
  }
  refused("jabas-objective", "fast", "'fast' is not an objective");
  refused("jabas-objective", "time:", "'' is not a number");
  refused("jabas-objective", "time:-0.1", "EPS -0.1 is below 0");
  refused("jabas-objective", "time:nan", "'nan' is not a number");
  refused("jabas-objective", "cost:1", "cost takes no number");
  refused("jabas-objective", "balanced:1", "ALPHA 1 is not below 1; for time alone use time");
  refused("jabas-objective", "balanced:-1", "ALPHA -1 is below 0");
  refused("jabas-objective", "value", "value needs a number, such as value:4");
  refused("jabas-objective", "value:0", "V 0 is not above 0");
  refused("jabas-objective", "deadline", "deadline needs a duration, such as deadline:8h");
  refused("jabas-objective", "deadline:soon", "'soon' is not a duration");
  refused("jabas-objective", "deadline:0", "T 0 is not above 0");
  refused("jabas-objective", "deadline:-1h", "'-1h' is not a duration");
  refused("jabas-objective", "budget", "budget needs a number, such as budget:20");
  refused("jabas-objective", "budget:-3", "X -3 is not above 0");
  refused("jabas-objective", "paper:1", "paper takes no number");
  refused("jabas-objective", "value:4x", "'4x' is not a number");
}

BOOST_AUTO_TEST_CASE(batch) {
  const Options options = accepted("jabas-batch", "64-2048");
  BOOST_TEST(options.batch_min == 64);
  BOOST_TEST(options.batch_max == 2048);
  refused("jabas-batch", "64", "'64' is not MIN-MAX");
  refused("jabas-batch", "0-64", "MIN 0 is below 1");
  refused("jabas-batch", "128-64", "MIN 128 is above MAX 64");
}

BOOST_AUTO_TEST_CASE(durations_in_all_forms_of_slurm) {
  const std::map<std::string, long> forms = {
      {"0", 0},       {"90", 5400},       {"1:30", 90},          {"2:03:04", 7384},
      {"1-2", 93600}, {"1-02:03", 93780}, {"1-02:03:04", 93784}, {"0-0:0:1", 1}};
  for (const auto& [text, seconds] : forms) {
    BOOST_TEST(accepted("jabas-wait", text).wait_s == seconds);
  }
  for (const char* text : {"soon", "1:2:3:4", "1-", "1-2-3", "1:", ":1", "1.5", "99999999"}) {
    refused("jabas-wait", text, "'" + std::string(text) + "' is not a duration");
  }
}

BOOST_AUTO_TEST_CASE(files_and_urls) {
  const TempDir dir;
  const std::string file = dir / "f";
  refused("jabas-prices", file, "cannot read the file: No such file or directory");
  refused("jabas-profile", file, "cannot read the file: No such file or directory");
  refused("jabas-profile", dir.path(), "not a regular file");
  BOOST_REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  refused("jabas-profile", file, "not a regular file");
  unlink(file.c_str());
  std::ofstream(file) << "{}";
  BOOST_TEST(accepted("jabas-prices", file).prices == file);
  BOOST_TEST(accepted("jabas-profile", file).profile == file);
  accepted("jabas-prices", "file://" + file);
  refused("jabas-prices", "file://" + dir.path(), "not a regular file");
  refused("jabas-prices", "file://prices.json", "a file URL needs an absolute path");
  accepted("jabas-prices", "https://host/prices.csv");
  refused("jabas-prices", "http://", "the URL names nothing");
  refused("jabas-prices", "ftp://host/p", "URL scheme 'ftp' is not http, https or file");
  refused("jabas-profile", "http://host/p", "a URL is not accepted here");
}

BOOST_AUTO_TEST_CASE(files_are_not_looked_at_on_the_node) {
  Options options;
  BOOST_TEST(parse_option("jabas-prices", "/no/such", {}, false, &options) == "");
  BOOST_TEST(options.prices == "/no/such");
}

BOOST_AUTO_TEST_CASE(state_dir) {
  BOOST_TEST(accepted("jabas-state", "/shared/x").state_dir == "/shared/x");
  refused("jabas-state", "shared/x", "not an absolute path");
}

BOOST_AUTO_TEST_CASE(member_options) {
  const Options options =
      accepted("jabas-member", "v100:--partition=fast -A acc; p100:-C \"a;b\" --qos 'x y';");
  BOOST_REQUIRE(options.member.size() == 2);
  BOOST_TEST(options.member[0].first == "v100");
  BOOST_TEST(options.member[0].second == "--partition=fast -A acc");
  BOOST_TEST(options.member[1].first == "p100");
  BOOST_TEST(options.member[1].second == "-C \"a;b\" --qos 'x y'");
}

BOOST_AUTO_TEST_CASE(member_options_that_the_system_sets_are_refused) {
  const auto set = [](const std::string& words, const std::string& option) {
    refused("jabas-member", "v100:" + words,
            "type v100: " + option + " is set by the system and cannot be given");
  };
  set("--wrap=x", "--wrap");
  set("-J name", "-J");
  set("-Jname", "-J");
  set("-HJ name", "-J");
  set("--job-name=n", "--job-name");
  set("--job-n n", "--job-name");
  set("-p x -o /tmp/o", "-o");
  set("--output /tmp/o", "--output");
  set("--gres=gpu:8", "--gres");
  set("-t 5", "-t");
  set("--time=5", "--time");
  set("'--ti'me=5", "--time");
  set("--export=NONE", "--export");
  set("--comment=x", "--comment");
  set("-a 1-9", "-a");
  set("--jabas-gpus=v100:0-1", "--jabas-gpus");
  set("-- script", "--");
  accepted("jabas-member", "v100:--time-min=5 --gres-flags=enforce-binding -pJot");
}

BOOST_AUTO_TEST_CASE(wrong_member_options_are_refused) {
  refused("jabas-member", "v100", "'v100' is not TYPE:sbatch options");
  refused("jabas-member", "v100:", "type v100: no sbatch options");
  refused("jabas-member", "v100:fast",
          "type v100: 'fast' is not an sbatch option (these start with '-')");
  refused("jabas-member", "v100:-p fast x",
          "type v100: 'x' is not an sbatch option (these start with '-')");
  refused("jabas-member", "v100:-C 'a", "type v100: a quote ' is not closed");
  refused("jabas-member", "v100:-p a;v100:-p b", "type v100 is given twice");
  refused("jabas-member", "a100:-p a", "GPU type 'a100' is unknown; this cluster has p100, v100");
}

BOOST_AUTO_TEST_CASE(a_conflict_is_reported_by_the_later_option) {
  const std::string problem = "type v100 is in --jabas-member but not in --jabas-gpus";
  refused("jabas-gpus", "p100:0-1", problem, accepted("jabas-member", "v100:-p x"));
  refused("jabas-member", "v100:-p x", problem, accepted("jabas-gpus", "p100:0-1"));
}

BOOST_AUTO_TEST_CASE(the_last_of_an_option_counts) {
  const Options options = accepted("jabas-gpus", "p100:1-1", accepted("jabas-gpus", "v100:0-4"));
  BOOST_REQUIRE(options.gpus.size() == 1);
  BOOST_TEST(options.gpus[0].type == "p100");
}

BOOST_AUTO_TEST_CASE(control_characters_are_refused_and_not_printed) {
  Options options;
  BOOST_TEST(parse_option("jabas-state", "/a\nb", {}, true, &options) ==
             "--jabas-state=/a?b: a control character; accepted: " + kAccepted.at("jabas-state"));
}

BOOST_AUTO_TEST_CASE(an_unknown_option_is_said_to_be_none) {
  Options options;
  BOOST_TEST(parse_option("jabas-x", "1", {}, true, &options) == "--jabas-x: no such option");
}

BOOST_AUTO_TEST_CASE(every_option_has_help_and_takes_a_value) {
  BOOST_TEST(jabas::option_table().size() == kAccepted.size());
  for (const auto& info : jabas::option_table()) {
    BOOST_TEST(kAccepted.count(info.name) == 1);
    BOOST_TEST(std::string(info.help) != "");
    BOOST_TEST(std::string(info.argument) != "");
  }
}

BOOST_AUTO_TEST_CASE(arguments_give_the_same_options_again) {
  BOOST_TEST(to_arguments(Options()).empty());
  Options options;
  const std::vector<std::pair<std::string, std::string>> given = {
      {"jabas-gpus", "v100:0-4,p100:2-2"},
      {"jabas-unit", "2"},
      {"jabas-objective", "balanced:0.3"},
      {"jabas-batch", "64-2048"},
      {"jabas-prices", "http://h/p"},
      {"jabas-profile", "/p.json"},
      {"jabas-wait", "1-02:03:04"},
      {"jabas-state", "/s"},
      {"jabas-member", "v100:-p \"a b\";p100:-A x"}};
  std::vector<std::string> expected;
  for (const auto& [name, value] : given) {
    BOOST_TEST(parse_option(name, value, {}, false, &options) == "");
    expected.push_back("--" + name + "=" + value);
  }
  BOOST_TEST(to_arguments(options) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(words_are_split_like_a_shell_does) {
  const auto words = [](const std::string& text) {
    std::vector<std::string> result;
    std::string error;
    BOOST_TEST(jabas::split_words(text, &result, &error));
    return result;
  };
  using Words = std::vector<std::string>;
  BOOST_TEST(words("  a  b\tc ") == (Words{"a", "b", "c"}), boost::test_tools::per_element());
  BOOST_TEST(words("'a b'\"c d\"e") == (Words{"a bc de"}), boost::test_tools::per_element());
  BOOST_TEST(words("\"a\\\"b\\c\" 'd\\e'") == (Words{"a\"b\\c", "d\\e"}),
             boost::test_tools::per_element());
  BOOST_TEST(words("a\\ b '' $x") == (Words{"a b", "", "$x"}), boost::test_tools::per_element());
  Words result;
  std::string error;
  BOOST_TEST(!jabas::split_words("a \"b", &result, &error));
  BOOST_TEST(error == "a quote \" is not closed");
  BOOST_TEST(!jabas::split_words("a\\", &result, &error));
  BOOST_TEST(error == "a backslash ends the text");
}

// Whatever comes in: an answer, no exception, and a problem is one line.
BOOST_AUTO_TEST_CASE(random_values_are_answered) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  BOOST_TEST_CONTEXT("seed " << seed) {
    std::mt19937 random(seed);
    const std::string letters = "v100:-,;'\"\\ =.x\n\xff";
    for (int i = 0; i < 20000; ++i) {
      std::string value;
      for (auto left = random() % 20; left > 0; --left) value += letters[random() % letters.size()];
      const auto& info = jabas::option_table()[random() % jabas::option_table().size()];
      Options options;
      const std::string problem = parse_option(info.name, value, {}, false, &options);
      BOOST_REQUIRE(problem.find('\n') == std::string::npos);
      if (!problem.empty()) BOOST_REQUIRE(to_arguments(options).empty());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
