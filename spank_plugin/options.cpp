#include "spank_plugin/options.h"

#include <algorithm>
#include <exception>

#include "spank_plugin/member_option.h"
#include "spank_plugin/option_values.h"

namespace jabas {
namespace {

struct Form {
  const char* name;
  const char* accepted;  // the end of every error message
};

constexpr Form kForms[] = {
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
     "--time, --comment, --export and --array"},
};

const char* accepted_form(std::string_view name) {
  for (const Form& form : kForms) {
    if (name == form.name) return form.accepted;
  }
  return nullptr;
}

// Bytes that would garble a terminal or a log are shown as '?'.
std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return result;
}

// Options come in any order, so this is asked after each of --jabas-gpus and --jabas-member.
std::string check_member_types(const Options& options) {
  if (!options.on) return "";
  for (const auto& entry : options.member) {
    const auto same = [&](const TypeRange& range) { return range.type == entry.first; };
    if (std::none_of(options.gpus.begin(), options.gpus.end(), same)) {
      return "type " + entry.first + " is in --jabas-member but not in --jabas-gpus";
    }
  }
  return "";
}

std::string read_value(std::string_view name, std::string_view value,
                       const std::vector<std::string>& known_types, bool check_files,
                       Options* options) {
  if (value.empty()) return "no value";
  if (value[0] == '-') {
    // sbatch takes the next word as the value when '=' is left out.
    return "a value cannot start with '-' (write --" + std::string(name) + "=VALUE)";
  }
  if (printable(value) != value) return "a control character";
  if (name == "jabas-gpus") {
    std::string problem = read_gpus(value, known_types, &options->gpus);
    if (!problem.empty()) return problem;
    options->on = true;
    return check_member_types(*options);
  }
  if (name == "jabas-member") {
    std::string problem = read_member(value, known_types, &options->member);
    return problem.empty() ? check_member_types(*options) : problem;
  }
  if (name == "jabas-unit") return read_unit(value, &options->unit);
  if (name == "jabas-batch") return read_batch(value, &options->batch_min, &options->batch_max);
  if (name == "jabas-wait") return read_duration(value, &options->wait_s);
  if (name == "jabas-objective") {
    options->objective = value;
    return check_objective(value);
  }
  if (name == "jabas-prices") {
    options->prices = value;
    return check_file(options->prices, true, check_files);
  }
  if (name == "jabas-profile") {
    options->profile = value;
    return check_file(options->profile, false, check_files);
  }
  options->state_dir = value;
  return value[0] == '/' ? "" : "not an absolute path";
}

}  // namespace

const std::vector<OptionInfo>& option_table() {
  // Never freed: the plugin must leave nothing behind that runs when it is unloaded.
  static const std::vector<OptionInfo>& table = *new std::vector<OptionInfo>{
      {"jabas-gpus", "TYPE:MIN-MAX[,...]",
       "train on a changing set of GPUs, MIN to MAX of each type (switches JABAS on)"},
      {"jabas-unit", "N", "JABAS: GPUs per member job (default 1)"},
      {"jabas-objective", "time[:EPS]|cost|balanced[:ALPHA]|value:V|deadline:T|budget:X|paper",
       "JABAS: what the choice of GPUs optimises (default time)"},
      {"jabas-batch", "MIN-MAX", "JABAS: range of the global batch size"},
      {"jabas-prices", "FILE|URL", "JABAS: price per GPU-hour of each type (JSON or CSV)"},
      {"jabas-profile", "FILE", "JABAS: measured step times of each GPU type"},
      {"jabas-wait", "DURATION", "JABAS: how long a GPU may be waited for"},
      {"jabas-state", "DIR", "JABAS: where runs keep their state (default $HOME/.jabas)"},
      {"jabas-member", "TYPE:OPTIONS[;...]", "JABAS: sbatch options for member jobs of a type"},
  };
  return table;
}

std::string parse_option(std::string_view name, std::string_view value,
                         const std::vector<std::string>& known_types, bool check_files,
                         Options* options) try {
  const char* accepted = accepted_form(name);
  if (!accepted) return "--" + printable(name) + ": no such option";
  Options changed = *options;
  const std::string problem = read_value(name, value, known_types, check_files, &changed);
  if (problem.empty()) {
    *options = std::move(changed);
    return "";
  }
  return "--" + std::string(name) + "=" + printable(value) + ": " + problem +
         "; accepted: " + accepted;
} catch (const std::exception&) {
  return "out of memory";  // nothing else is thrown below; short enough to need no allocation
}

std::vector<std::string> to_arguments(const Options& options) {
  const Options defaults;
  std::vector<std::string> arguments;
  const auto add = [&](const char* name, const std::string& value) {
    arguments.push_back("--" + std::string(name) + "=" + value);
  };
  if (options.on) {
    std::string gpus;
    for (const TypeRange& range : options.gpus) {
      gpus += (gpus.empty() ? "" : ",") + range.type + ":" + std::to_string(range.min) + "-" +
              std::to_string(range.max);
    }
    add("jabas-gpus", gpus);
  }
  if (options.unit != defaults.unit) add("jabas-unit", std::to_string(options.unit));
  if (options.objective != defaults.objective) add("jabas-objective", options.objective);
  if (options.batch_max > 0) {
    add("jabas-batch", std::to_string(options.batch_min) + "-" + std::to_string(options.batch_max));
  }
  if (!options.prices.empty()) add("jabas-prices", options.prices);
  if (!options.profile.empty()) add("jabas-profile", options.profile);
  if (options.wait_s > 0) add("jabas-wait", to_duration_text(options.wait_s));
  if (!options.state_dir.empty()) add("jabas-state", options.state_dir);
  if (!options.member.empty()) {
    std::string member;
    for (const auto& [type, text] : options.member) {
      member += (member.empty() ? "" : ";") + type + ":" + text;
    }
    add("jabas-member", member);
  }
  return arguments;
}

}  // namespace jabas
