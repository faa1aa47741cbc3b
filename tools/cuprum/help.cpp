// --help and the man page, both made from the table of verbs.
#include <cuprum/version.hpp>
#include <ostream>
#include <string>

#include "command.hpp"
#include "terminal.hpp"

namespace cuprum::cli {
namespace {

constexpr const char* tagline = "CUDA for C++ and Python, with and without a GPU";
constexpr Option help_option = {"--help", "", "print help and end"};

struct Variable {
  const char* name;
  const char* meaning;
};
constexpr Variable variables[] = {
    {"CUPRUM_DRIVER", "auto, nvidia or softgpu: the driver that libcuprum, and so doctor and info, take"},
    {"CUPRUM_SOFTGPU_PATH", "softgpu's libcuda.so.1, when it is not where it was installed"},
    {"SOFTGPU_DEVICES",
     "how many devices softgpu has, 1 unless set; the guide's page on settings has all of softgpu's"},
    {"NO_COLOR", "when set to anything, output has no colours; it has none on a pipe or in a file anyway"},
};

std::string spelled(const Option& option) {
  return *option.value ? std::string(option.name) + " " + option.value : option.name;
}

std::string usage(const Verb& verb) {
  std::string line = std::string("cuprum ") + verb.name;
  for (const Option& option : verb.options) line += " [" + spelled(option) + "]";
  return *verb.operands ? line + " " + verb.operands : line;
}

void print_row(std::ostream& out, const std::string& left, const std::string& right) {
  constexpr std::size_t column = 16;
  out << "  " << left << std::string(left.size() < column ? column - left.size() : 1, ' ')
      << wrapped(right, column + 2, help_width) << '\n';
}

std::string sentence(std::string text) {
  text.front() = upper_case(text.substr(0, 1)).front();
  return text + ".";
}

// What roff would take as its own: a backslash anywhere, a hyphen that must stay one, and a dot or quote at the start
// of a line.
std::string roff(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

void man_item(std::ostream& out, const std::string& term, const std::string& text) {
  out << ".TP\n.B " << roff(term) << '\n' << roff(text) << '\n';
}

}  // namespace

void print_help(std::ostream& out) {
  out << "Cuprum " << version() << ": " << tagline << "\n\nusage: cuprum VERB [OPTION...]\n\n";
  for (const Verb& verb : verbs()) print_row(out, verb.name, verb.summary);
  out << '\n';
  print_row(out, "--help", "print this and end; cuprum VERB --help has more about a verb");
  print_row(out, "--version", "print the version and end");
}

void print_help(std::ostream& out, const Verb& verb) {
  out << "usage: " << usage(verb) << "\n\n";
  for (const char* paragraph : verb.description) out << wrapped(paragraph, 0, help_width) << "\n\n";
  for (const Option& option : verb.options) print_row(out, spelled(option), option.help);
  print_row(out, help_option.name, help_option.help);
  out << "\nExit codes:\n";
  for (const ExitCode& row : verb.exit_codes) print_row(out, row.code, row.meaning);
  out << "\nExamples:\n";
  for (const char* line : verb.examples) out << "  " << line << '\n';
}

void print_man_page(std::ostream& out) {
  out << ".TH CUPRUM 1 \"\" \"Cuprum " << version() << "\"\n.SH NAME\ncuprum \\- " << roff(tagline)
      << "\n.SH SYNOPSIS\n";
  for (const Verb& verb : verbs()) out << ".B " << roff(usage(verb)) << "\n.br\n";
  out << ".B cuprum \\-\\-help\n.br\n.B cuprum \\-\\-version\n";
  for (const Verb& verb : verbs()) {
    out << ".SH CUPRUM " << upper_case(verb.name) << '\n' << roff(sentence(verb.summary)) << '\n';
    for (const char* paragraph : verb.description) out << ".PP\n" << roff(paragraph) << '\n';
    for (const Option& option : verb.options) man_item(out, spelled(option), option.help);
    man_item(out, help_option.name, help_option.help);
    out << ".PP\nExit codes:\n";
    for (const ExitCode& row : verb.exit_codes) man_item(out, row.code, row.meaning);
    out << ".PP\nExamples:\n.PP\n.nf\n.RS\n";
    for (const char* line : verb.examples) out << roff(line) << '\n';
    out << ".RE\n.fi\n";
  }
  out << ".SH ENVIRONMENT\n";
  for (const Variable& variable : variables) man_item(out, variable.name, variable.meaning);
}

}  // namespace cuprum::cli
