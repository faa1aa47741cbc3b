// The `cuprum` command.
#include <algorithm>
#include <cuprum/version.hpp>
#include <exception>
#include <iostream>

#include "command.hpp"

namespace cuprum::cli {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all = {doctor_verb, info_verb, top_verb, exec_verb};
  return all;
}

namespace {

int run(const Verb& verb, const std::vector<std::string>& words) {
  try {
    const Arguments arguments = parse(verb, words);
    if (arguments.has("--help")) {
      print_help(std::cout, verb);
      return 0;
    }
    return verb.run(arguments);
  } catch (const UsageError& error) {
    std::cerr << "cuprum " << verb.name << ": " << error.what() << ". See cuprum " << verb.name << " --help\n";
    return verb.usage_exit_code;
  } catch (const std::exception& error) {
    std::cerr << "cuprum " << verb.name << ": " << error.what() << '\n';
    return 1;
  }
}

int main(const std::vector<std::string>& words) {
  constexpr int misused = 2;
  if (words.empty()) {
    print_help(std::cerr);
    return misused;
  }
  const std::string& name = words.front();
  if (name == "--help" || name == "-h") {
    print_help(std::cout);
    return 0;
  }
  if (name == "--version") {
    std::cout << "cuprum " << version() << '\n';
    return 0;
  }
  if (name == "--man-page") {
    print_man_page(std::cout);
    return 0;
  }
  const auto found = std::find_if(verbs().begin(), verbs().end(), [&](const Verb& verb) { return name == verb.name; });
  if (found != verbs().end()) return run(*found, {words.begin() + 1, words.end()});
  std::cerr << "cuprum: there is no verb '" << name << "'; there are";
  for (const Verb& verb : verbs()) std::cerr << ' ' << verb.name;
  std::cerr << ". See cuprum --help\n";
  return misused;
}

}  // namespace
}  // namespace cuprum::cli

int main(int count, char** words) {
  const int code = cuprum::cli::main({words + 1, words + count});
  std::cout.flush();
  if (!std::cout && code == 0) {  // a full disk, or a pipe that nobody reads
    std::cerr << "cuprum: the output could not be written\n";
    return 1;
  }
  return code;
}
