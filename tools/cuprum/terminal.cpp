#include "terminal.hpp"

#include <unistd.h>

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
