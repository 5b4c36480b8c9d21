#include "allocator/simulator/policies.h"

#include <functional>
#include <utility>

#include "allocator/error.h"

namespace jabas::sim {
namespace {

using Maker = std::function<std::unique_ptr<Policy>(const Setting&)>;

const std::vector<std::pair<std::string, Maker>>& makers() {
  static const std::vector<std::pair<std::string, Maker>> list = {
      {"static", make_static},
      {"static-tuned", make_static_tuned},
      {"simigrad", [](const Setting& setting) { return make_simigrad(setting, false); }},
      {"simigrad-jump", [](const Setting& setting) { return make_simigrad(setting, true); }},
      {"pollux", make_pollux},
      {"uneven", [](const Setting& setting) { return make_uneven(setting, false); }},
      {"uneven-accum", [](const Setting& setting) { return make_uneven(setting, true); }},
      {"paper", make_paper},
      {"bound", make_bound},
      {"jabas", make_jabas}};
  return list;
}

}  // namespace

const std::vector<std::string>& policy_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, maker] : makers()) all.push_back(name);
    return all;
  }();
  return names;
}

std::unique_ptr<Policy> make_policy(const std::string& name, const Setting& setting) {
  std::string accepted;
  for (const auto& [known, maker] : makers()) {
    if (known == name) return maker(setting);
    accepted += (accepted.empty() ? "" : ", ") + known;
  }
  throw UsageError("policy '" + name + "' is not known; accepted: " + accepted);
}

}  // namespace jabas::sim
