#include "core/program_cache/include_scan.hpp"

#include <optional>

namespace cuprum::core {
namespace {

using Reference = IncludeScan::Reference;
constexpr std::string_view include_word = "include";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
bool is_line_end(char c) { return c == '\n' || c == '\r'; }
bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// Lines that end with a backslash are joined with the next, which the language does first of all.
std::string joined_lines(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at, 2) == "\\\n") {
      at += 1;
    } else if (text.substr(at, 3) == "\\\r\n") {
      at += 2;
    } else {
      joined += text[at];
    }
  }
  return joined;
}

std::string_view without_leading_space(std::string_view text) {
  while (!text.empty()) {
    if (is_blank(text.front())) {
      text.remove_prefix(1);
    } else if (text.starts_with("/*")) {
      const std::size_t end = text.find("*/", 2);
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 2);
    } else {
      break;
    }
  }
  return text;
}

std::string_view without_trailing_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Whether what comes after `before` is a directive's name. Where a comment ends just there, it is taken for one: to
/// find where that began, everything from the start of the file would have to be read.
bool begins_directive(std::string_view before) {
  before = without_trailing_blanks(before);
  if (before.ends_with("*/")) return true;
  if (before.ends_with("#")) {
    before.remove_suffix(1);
  } else if (before.ends_with("%:")) {
    before.remove_suffix(2);
  } else if (before.ends_with("?\?=")) {  // C++14 still knows it
    before.remove_suffix(3);
  } else {
    return false;
  }
  before = without_trailing_blanks(before);
  return before.empty() || is_line_end(before.back()) || before.ends_with("*/");
}

/// Whether `before` ends where a macro may be defined. Where a comment ends in the same line, its beginning may be in
/// an earlier one that is part of the directive.
bool is_in_definition(std::string_view before) {
  const std::string_view line = before.substr(before.find_last_of("\r\n") + 1);
  if (line.find("*/") != std::string_view::npos) return true;
  constexpr std::string_view word = "define";
  for (std::size_t at = 0; (at = line.find(word, at)) != std::string_view::npos; at += word.size()) {
    if (!line.substr(at + word.size()).starts_with("d")) return true;  // "defined" asks
  }
  return false;
}

/// Whether it is asked if there is what follows: #ifdef NAME, defined NAME, defined(NAME).
bool asks_for_name(std::string_view before) {
  before = without_trailing_blanks(before);
  if (before.ends_with('(')) before = without_trailing_blanks(before.substr(0, before.size() - 1));
  return before.ends_with("defined") || before.ends_with("ifdef") || before.ends_with("ifndef");
}

std::optional<Reference> header_name(std::string_view text) {
  text = without_leading_space(text);
  if (text.empty() || (text.front() != '"' && text.front() != '<')) return std::nullopt;
  const bool quoted = text.front() == '"';
  const std::size_t end = text.find_first_of(quoted ? "\"\n" : ">\n", 1);
  if (end == std::string_view::npos || text[end] == '\n') return std::nullopt;
  return Reference{std::string(text.substr(1, end - 1)), quoted};
}

class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text) {}

  IncludeScan run() {
    for (std::size_t at = 0; (at = text_.find(include_word, at)) != std::string_view::npos; at += include_word.size()) {
      look_at(text_.substr(0, at), text_.substr(at + include_word.size()));
    }
    // It joins lines up to C++14 and does not from C++17 on, so that either way something could be hidden.
    for (std::string_view joint : {"?\?/\n", "?\?/\r"}) {
      if (text_.find(joint) != std::string_view::npos)
        hinder("a line that ends with the trigraph ?\?/ can't be followed");
    }
    for (std::string_view word : {"__DATE__", "__TIME__", "__TIMESTAMP__"}) {
      if (text_.find(word) != std::string_view::npos) hinder(std::string(word) + " is never the same");
    }
    return std::move(result_);
  }

 private:
  void look_at(std::string_view before, std::string_view after) {
    if (before.ends_with("__has_")) {
      if (after.starts_with("_next")) return hinder("__has_include_next can't be followed");
      if (after.empty() || !is_word(after.front())) look_at_has_include(before.substr(0, before.size() - 6), after);
    } else if (begins_directive(before)) {
      if (after.starts_with("_next")) return hinder("#include_next can't be followed");
      if (after.empty() || is_word(after.front())) return;
      add(header_name(after), "a computed #include can't be followed");
    }
  }

  void look_at_has_include(std::string_view before, std::string_view after) {
    after = without_leading_space(after);
    if (!after.starts_with("(")) {
      if (is_in_definition(before) && !asks_for_name(before))
        hinder("another name for __has_include can't be followed");
      return;
    }
    const std::optional<Reference> reference = header_name(after.substr(1));
    if (reference && reference->quoted && is_in_definition(before))  // beside which file, the macro's use decides
      return hinder("a __has_include of a quoted name in a macro can't be followed");
    add(reference, "a computed __has_include can't be followed");
  }

  void add(std::optional<Reference> reference, const char* otherwise) {
    if (!reference) return hinder(otherwise);
    result_.references.push_back(*std::move(reference));
  }

  void hinder(std::string why) {
    if (result_.obstacle.empty()) result_.obstacle = std::move(why);
  }

  std::string_view text_;
  IncludeScan result_;
};

}  // namespace

IncludeScan scan_includes(std::string_view text) {
  const bool has_joined_lines =
      text.find("\\\n") != std::string_view::npos || text.find("\\\r") != std::string_view::npos;
  return has_joined_lines ? Scan(joined_lines(text)).run() : Scan(text).run();
}

}  // namespace cuprum::core
