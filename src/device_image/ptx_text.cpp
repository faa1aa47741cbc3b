#include "device_image/ptx_text.hpp"

#include <algorithm>
#include <charconv>

namespace cuprum::device_image {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

void drop_through(std::string_view& text, std::string_view end) {
  const std::size_t at = text.find(end);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
}

void skip_blanks_and_comments(std::string_view& text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.starts_with("//"))
      drop_through(text, "\n");
    else if (text.starts_with("/*"))
      drop_through(text, "*/");
    else
      return;
  }
}

// The word after `directive`, which the text must start with; it is left behind both.
std::string_view operand_of(std::string_view& text, std::string_view directive) {
  skip_blanks_and_comments(text);
  if (!text.starts_with(directive)) return {};
  text.remove_prefix(directive.size());
  skip_blanks_and_comments(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\n\v\f,;/"));
  text.remove_prefix(word.size());
  return word;
}

bool read_number(std::string_view text, std::uint16_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

PtxHeader read_ptx_header(std::string_view text) {
  PtxHeader header;
  const std::string_view version = operand_of(text, ".version");
  const std::size_t point = version.find('.');
  if (point == std::string_view::npos || !read_number(version.substr(0, point), header.major) ||
      !read_number(version.substr(point + 1), header.minor))
    return {};
  header.architecture = parse_architecture(operand_of(text, ".target")).value_or(Architecture());
  return header;
}

}  // namespace cuprum::device_image
