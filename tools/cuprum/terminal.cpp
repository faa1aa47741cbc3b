#include "terminal.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace cuprum::cli {

Style Style::of_stdout() {
  const char* forbidden = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal && std::string_view(terminal) == "dumb";
  return Style(isatty(STDOUT_FILENO) && !(forbidden && *forbidden) && !is_dumb);
}

std::string Style::marked(const char* code, const std::string& text) const {
  return colours_ ? "\x1b[" + std::string(code) + "m" + text + "\x1b[0m" : text;
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = indent;
  bool line_is_empty = true;
  const auto next_line = [&] {
    result += "\n" + std::string(indent, ' ');
    column = indent;
    line_is_empty = true;
  };
  for (std::size_t begin = 0; begin < text.size();) {
    if (text[begin] == '\n') {
      next_line();
      ++begin;
      while (begin < text.size() && text[begin] == ' ') {  // an indented line stays indented
        result += text[begin++];
        ++column;
      }
      continue;
    }
    if (text[begin] == ' ') {
      ++begin;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::size_t length = end - begin;
    if (!line_is_empty && column + 1 + length > width) next_line();
    if (!line_is_empty) {
      result += ' ';
      ++column;
    }
    result.append(text, begin, length);
    column += length;
    line_is_empty = false;
    begin = end;
  }
  return result;
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

namespace {

/// Of the character that begins there, in UTF-8; 0 when it is none, or one that terminals obey.
std::size_t length_of_character(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = at(0), second = at(1);
  if (first < 0x80) return first >= ' ' && first != 0x7F ? 1 : 0;
  if (first < 0xC2 || first > 0xF4) return 0;
  if (first == 0xC2 && second < 0xA0) return 0;  // the second set of control characters
  const bool is_other_number = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                               (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  if (is_other_number) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  for (std::size_t i = 1; i < length; ++i)
    if (i >= text.size() || !is_continuation(text[i])) return 0;
  return length;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = length_of_character(std::string_view(text).substr(i));
    result += length != 0 ? text.substr(i, length) : "?";
    i += length != 0 ? length : 1;
  }
  return result;
}

std::string fitted(const std::string& text, std::size_t height) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const std::size_t shown = lines <= height ? lines : height - std::min<std::size_t>(height, 1);
  std::size_t end = 0;
  for (std::size_t i = 0; i < shown; ++i) end = text.find('\n', end) + 1;
  std::string result = text.substr(0, end);
  if (lines <= height) return result.substr(0, result.size() - (shown != 0 ? 1 : 0));
  return result + "(" + std::to_string(lines - shown) + " more lines than the terminal has)";
}

std::string upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string bytes(std::uint64_t count) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(count);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < std::size(units); ++unit) amount /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", amount, units[unit]);
  return text;
}

std::string cuda_version(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace cuprum::cli
