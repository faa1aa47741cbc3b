// The command line as data: verbs and their options. The parser, --help and the man page all come from it.
#pragma once

#include <iosfwd>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuprum::cli {

/// What the user typed makes no sense; the message says what was expected.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Option {
  const char* name;   ///< "--json"
  const char* value;  ///< what follows it, such as "N"; empty for a switch
  const char* help;
};

struct ExitCode {
  const char* code;
  const char* meaning;
};

class Arguments {
 public:
  bool has(const char* option) const { return options.contains(option); }
  /// The option's value as a number from `least` on; `otherwise` when the option is absent. Throws UsageError.
  int number(const char* option, int otherwise, int least = 0) const;

  std::map<std::string, std::string> options;
  std::vector<std::string> operands;
};

struct Verb {
  const char* name;
  const char* operands;  ///< what follows the options, as the usage line has it; empty when nothing may
  const char* summary;
  std::vector<const char*> description;  ///< paragraphs
  std::vector<Option> options;           ///< --help, which every verb has, comes by itself
  std::vector<ExitCode> exit_codes;
  std::vector<const char*> examples;  ///< command lines
  int usage_exit_code;
  int (*run)(const Arguments& arguments);
};

/// All verbs, in the order of the help.
const std::vector<Verb>& verbs();
extern const Verb doctor_verb;
extern const Verb info_verb;
extern const Verb exec_verb;
extern const Verb top_verb;

/// Options up to the first operand or "--". Throws UsageError.
Arguments parse(const Verb& verb, const std::vector<std::string>& words);

void print_help(std::ostream& out);
void print_help(std::ostream& out, const Verb& verb);
/// docs/man/cuprum.1, which a test compares with this.
void print_man_page(std::ostream& out);

}  // namespace cuprum::cli
