#include "tests/fuzz/mutate.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace jabas::fuzz {
namespace {

using nlohmann::ordered_json;

std::size_t below(std::size_t count, Random& random) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

const std::vector<std::string> kHostileText = {
    "",      "0",          "-1",    "1",   "nan",      "inf",        "-inf",
    "1e400", "1e-400",     "1e308", "0.5", "65536",    "2147483648", "9223372036854775808",
    "-0.0",  "x",          " ",     "\"",  "1,2",      "null",       "node0:4",
    "time:", "balanced:1", "0x10",  "1e",  "\xff\xfe", "🙂",       std::string(300, '9')};

ordered_json hostile_value(Random& random) {
  switch (below(9, random)) {
    case 0:
      return nullptr;
    case 1:
      return -1;
    case 2:
      return 0;
    case 3:
      return 1e308 * double(below(2, random) ? 1 : -1);
    case 4:
      return std::int64_t(1) << below(63, random);
    case 5:
      return ordered_json::array();
    case 6:
      return ordered_json::object();
    case 7:
      return double(below(1000, random)) / 1000;
    default:
      return kHostileText[below(kHostileText.size(), random)];
  }
}

void collect(ordered_json& node, std::vector<ordered_json*>* nodes) {
  nodes->push_back(&node);
  if (node.is_structured())
    for (ordered_json& child : node) collect(child, nodes);
}

void mutate_node(ordered_json& node, Random& random) {
  const bool structured = node.is_structured() && !node.empty();
  switch (below(structured ? 5 : 2, random)) {
    case 0:
      node = hostile_value(random);
      return;
    case 1:
      if (node.is_number()) {  // near what was there, so that it is accepted more often
        const double factors[] = {-1, 0, 0.5, 2, 10, 1e3, 1e6, 1e-6};
        const double changed = node.get<double>() * factors[below(8, random)];
        if (node.is_number_integer() && std::abs(changed) < 1e15)
          node = std::int64_t(changed);
        else
          node = changed;
        return;
      }
      node = hostile_value(random);
      return;
    case 2:
      node.erase(std::next(node.begin(), std::ptrdiff_t(below(node.size(), random))));
      return;
    case 3:
      if (node.is_object())
        node[kHostileText[1 + below(kHostileText.size() - 4, random)]] = hostile_value(random);
      else
        node.push_back(node[below(node.size(), random)]);
      return;
    default:
      *std::next(node.begin(), std::ptrdiff_t(below(node.size(), random))) = hostile_value(random);
  }
}

}  // namespace

std::string mutate_text(std::string text, Random& random) {
  for (std::size_t changes = 1 + below(4, random); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = below(text.size(), random);
    switch (below(5, random)) {
      case 0:
        text[at] = char(below(256, random));
        break;
      case 1:
        text.erase(at, 1 + below(20, random));
        break;
      case 2:
        text.insert(at, text.substr(at, 1 + below(40, random)));
        break;
      case 3:
        text.resize(at);
        break;
      default:
        text.insert(at, kHostileText[below(kHostileText.size(), random)]);
    }
  }
  return text;
}

std::string mutate_json(const std::string& text, Random& random) {
  ordered_json json = ordered_json::parse(text);
  for (std::size_t changes = 1 + below(4, random) / 3; changes > 0; --changes) {
    std::vector<ordered_json*> nodes;
    collect(json, &nodes);
    mutate_node(*nodes[below(nodes.size(), random)], random);
  }
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string mutate_csv(const std::string& text, Random& random) {
  std::vector<std::vector<std::string>> lines(1);
  std::string cell;
  for (const char c : text) {
    if (c == ',' || c == '\n') {
      lines.back().push_back(cell);
      cell.clear();
      if (c == '\n') lines.emplace_back();
    } else {
      cell += c;
    }
  }
  for (std::size_t changes = 1 + below(4, random); changes > 0; --changes) {
    std::vector<std::string>& line = lines[below(lines.size(), random)];
    if (line.empty()) continue;
    std::string& chosen = line[below(line.size(), random)];
    switch (below(4, random)) {
      case 0:
        line.pop_back();
        break;
      case 1:
        line.push_back(kHostileText[below(kHostileText.size(), random)]);
        break;
      default:
        chosen = kHostileText[below(kHostileText.size(), random)];
    }
  }
  std::string result;
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) result += (i ? "," : "") + line[i];
    result += '\n';
  }
  return result;
}

}  // namespace jabas::fuzz
