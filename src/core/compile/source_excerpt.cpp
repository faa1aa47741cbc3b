#include "core/compile/source_excerpt.hpp"

#include <algorithm>
#include <charconv>
#include <iomanip>
#include <optional>
#include <sstream>
#include <vector>

namespace cuprum::core {
namespace {

constexpr std::size_t lines_around = 3;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// "saxpy.cu(12): error: …" is the 12; so is "saxpy.cu (12, 3): parse …" of libNVVM.
std::optional<std::size_t> line_of_error(std::string_view message, std::string_view name) {
  const bool is_error = message.find("error") != message.npos || message.find("parse") != message.npos;
  if (!is_error || !message.starts_with(name)) return std::nullopt;
  message.remove_prefix(name.size());
  message.remove_prefix(std::min(message.find_first_not_of(' '), message.size()));
  if (!message.starts_with('(')) return std::nullopt;
  std::size_t line = 0;
  const auto parsed = std::from_chars(message.data() + 1, message.data() + message.size(), line);
  return parsed.ec == std::errc() ? std::optional(line) : std::nullopt;
}

std::string print(const std::vector<std::string_view>& lines, std::size_t guilty) {
  const std::size_t first = guilty > lines_around ? guilty - lines_around : 1;
  const std::size_t last = std::min(guilty + lines_around, lines.size());
  const int width = static_cast<int>(std::to_string(last).size());
  std::ostringstream out;
  out.imbue(std::locale::classic());
  for (std::size_t line = first; line <= last; ++line) {
    out << (line == guilty ? "> " : "  ") << std::setw(width) << line << " | " << lines[line - 1] << '\n';
  }
  return std::move(out).str();
}

}  // namespace

std::string source_excerpt(std::string_view source, std::string_view name, std::string_view log) {
  const std::vector<std::string_view> lines = lines_of(source);
  for (std::string_view message : lines_of(log)) {
    const auto line = line_of_error(message, name);
    if (line && *line >= 1 && *line <= lines.size()) return print(lines, *line);
  }
  return {};
}

}  // namespace cuprum::core
