#include "command.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace cuprum::cli {
namespace {

const Option* find_option(const Verb& verb, std::string_view name) {
  const auto found =
      std::find_if(verb.options.begin(), verb.options.end(), [&](const Option& option) { return name == option.name; });
  return found == verb.options.end() ? nullptr : &*found;
}

std::string known_options(const Verb& verb) {
  std::string names;
  for (const Option& option : verb.options) names += std::string(option.name) + ", ";
  return names + "--help";
}

}  // namespace

int Arguments::number(const char* option, int otherwise, int least) const {
  const auto found = options.find(option);
  if (found == options.end()) return otherwise;
  const std::string& text = found->second;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least) {
    throw UsageError(std::string(option) + " is '" + text + "'; it takes a number from " + std::to_string(least));
  }
  return value;
}

Arguments parse(const Verb& verb, const std::vector<std::string>& words) {
  Arguments arguments;
  std::size_t i = 0;
  for (; i < words.size() && words[i].starts_with("-"); ++i) {
    if (words[i] == "--") {
      ++i;
      break;
    }
    const std::size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    if (name == "--help" || name == "-h") {
      arguments.options["--help"];
      return arguments;
    }
    const Option* option = find_option(verb, name);
    if (!option) throw UsageError("there is no option '" + name + "'; there are " + known_options(verb));
    std::string& value = arguments.options[name];
    if (*option->value && equals != std::string::npos) {
      value = words[i].substr(equals + 1);
    } else if (*option->value) {
      if (++i == words.size()) throw UsageError(name + " needs " + option->value + " after it");
      value = words[i];
    } else if (equals != std::string::npos) {
      throw UsageError(name + " takes no value");
    }
  }
  arguments.operands.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
  if (!*verb.operands && !arguments.operands.empty()) {
    throw UsageError("'" + arguments.operands.front() + "' is more than it takes");
  }
  return arguments;
}

}  // namespace cuprum::cli
