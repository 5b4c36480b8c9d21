#include "allocator/acct_options.h"

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "allocator/error.h"

namespace jabas::acct {
namespace {

enum LongOption : int { kDelimiter = 256, kJson, kMembers, kBatchList, kState, kWhyEpoch };

constexpr option kLongOptions[] = {
    {"jobs", required_argument, nullptr, 'j'},
    {"format", required_argument, nullptr, 'o'},
    {"fields", required_argument, nullptr, 'o'},
    {"starttime", required_argument, nullptr, 'S'},
    {"endtime", required_argument, nullptr, 'E'},
    {"parsable", no_argument, nullptr, 'p'},
    {"parsable2", no_argument, nullptr, 'P'},
    {"noheader", no_argument, nullptr, 'n'},
    {"delimiter", required_argument, nullptr, kDelimiter},
    {"helpformat", no_argument, nullptr, 'e'},
    {"json", no_argument, nullptr, kJson},
    {"members", no_argument, nullptr, kMembers},
    {"batch", no_argument, nullptr, kBatchList},
    {"why", required_argument, nullptr, kWhyEpoch},
    {"state", required_argument, nullptr, kState},
    {"version", no_argument, nullptr, 'V'},
    {"help", no_argument, nullptr, 'h'},
    {nullptr, 0, nullptr, 0},
};

std::string option_name(int code) {
  for (const option& each : kLongOptions) {
    if (each.name != nullptr && each.val == code) return std::string("--") + each.name;
  }
  return std::string("-") + static_cast<char>(code);
}

std::vector<std::string> read_jobs(const std::string& text) {
  std::vector<std::string> jobs;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    item.erase(0, item.find_first_not_of(" \t"));
    // "123.batch", "123.0": the steps of a job have no decisions of their own.
    const std::string id = item.substr(0, item.find('.'));
    const auto allowed = [](char c) { return (c >= '0' && c <= '9') || c == '_' || c == '+'; };
    if (id.empty() || id.front() < '0' || id.front() > '9' ||
        !std::all_of(id.begin(), id.end(), allowed)) {
      throw UsageError("Invalid job id specified: \"" + item + "\"");
    }
    jobs.push_back(id);
  }
  if (jobs.empty()) throw UsageError("Invalid job id specified: \"\"");
  return jobs;
}

int read_epoch_number(const std::string& text) {
  int epoch = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), epoch);
  if (error != std::errc() || end != text.data() + text.size() || epoch < 1) {
    throw UsageError("Invalid epoch specified: \"" + text +
                     "\"; accepted is a whole number from 1");
  }
  return epoch;
}

void set_view(Options& options, View view) {
  if (options.view != View::kDecisions && options.view != view) {
    throw UsageError("--members, --batch and --why exclude each other");
  }
  options.view = view;
}

void set_state(Options& options, const Environment& environment) {
  if (!options.state.empty()) return;
  options.state = environment.state;
  if (!options.state.empty()) return;
  options.state_is_default = true;
  options.state = environment.home + "/.jabas";
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments, const Environment& environment) {
  Options options;
  std::vector<std::string> copies{"jabasacct"};
  copies.insert(copies.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& copy : copies) argv.push_back(copy.data());
  const auto argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  optind = 0;  // glibc: start again
  opterr = 0;  // our own messages
  for (int code;
       (code = getopt_long(argc, argv.data(), ":j:o:S:E:pPneVh", kLongOptions, nullptr)) != -1;) {
    switch (code) {
      case 'j': {
        const auto more = read_jobs(optarg);
        options.jobs.insert(options.jobs.end(), more.begin(), more.end());
        break;
      }
      case 'o':
        options.format += (options.format.empty() ? "" : ",") + std::string(optarg);
        break;
      case 'S':
        options.start = optarg;
        break;
      case 'E':
        options.end = optarg;
        break;
      case 'p':
        options.style = TableStyle::kParsable;
        break;
      case 'P':
        options.style = TableStyle::kParsable2;
        break;
      case 'n':
        options.header = false;
        break;
      case 'e':
        options.task = Task::kHelpFormat;
        break;
      case 'V':
        options.task = Task::kVersion;
        break;
      case 'h':
        options.task = Task::kHelp;
        break;
      case kDelimiter:
        options.delimiter = optarg;
        break;
      case kJson:
        options.json = true;
        break;
      case kMembers:
        set_view(options, View::kMembers);
        break;
      case kBatchList:
        set_view(options, View::kBatch);
        break;
      case kWhyEpoch:
        set_view(options, View::kWhy);
        options.why_epoch = read_epoch_number(optarg);
        break;
      case kState:
        options.state = optarg;
        if (options.state.empty()) throw UsageError("option '--state' requires a directory");
        break;
      case ':':
        throw UsageError("option '" + option_name(optopt) + "' requires an argument");
      default: {
        const std::string at = argv[static_cast<std::size_t>(optind - 1)];
        throw UsageError(optopt != 0 ? "invalid option -- '" +
                                           std::string(1, static_cast<char>(optopt)) + "'"
                                     : "unrecognized option '" + at + "'");
      }
    }
  }
  if (optind < argc) {
    throw UsageError("unexpected argument '" + std::string(argv[static_cast<std::size_t>(optind)]) +
                     "'");
  }
  if (options.view == View::kWhy && options.jobs.size() != 1) {
    throw UsageError("--why needs one job: -j ID --why EPOCH");
  }
  if (options.format.empty() && options.view == View::kDecisions)
    options.format = environment.format;
  set_state(options, environment);
  return options;
}

const char* const kHelp =
    R"(Usage: jabasacct [OPTIONS]
Shows what was decided in runs of JABAS, when, why and what it cost. One line per decision.

  -j, --jobs=ID[,ID]       these lead jobs, all their decisions; without it every job with a
                           decision since midnight, and every running one
  -S, --starttime=TIME     decisions from TIME on
  -E, --endtime=TIME       decisions until TIME
                           TIME: HH:MM[:SS][AM|PM], MMDD[YY][-HH:MM[:SS]], MM/DD[/YY],
                           YYYY-MM-DD[THH:MM[:SS]], today, midnight, noon, tomorrow,
                           now[{+|-}N[seconds|minutes|hours|days|weeks]]
      --members            member jobs instead of decisions
      --batch              changes of the batch size instead of decisions
      --why=EPOCH          with -j ID: the candidates for EPOCH and why one was chosen
  -o, --format=LIST        fields, comma-separated, each may end in %N (width) or %-N (to the left);
                           ALL for every field (environment: JABAS_FORMAT)
  -e, --helpformat         the names of the fields
  -n, --noheader           no header
  -p, --parsable           fields end in |, nothing is cut
  -P, --parsable2          the same without the last |
      --delimiter=TEXT     instead of |
      --json               everything as JSON, times in UNIX seconds
      --state=DIR          state root (default: $JABAS_STATE, else $HOME/.jabas)
  -V, --version            version
  -h, --help               this text

Exit status: 0, also when nothing matches; 1 for any error.
)";

}  // namespace jabas::acct
