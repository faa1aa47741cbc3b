// How text looks: colours where they can be seen, lines that fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cuprum::cli {

constexpr std::size_t help_width = 100;

/// Marks up text, or leaves it as it is.
class Style {
 public:
  explicit Style(bool colours) : colours_(colours) {}
  /// Colours when standard output is a terminal that has them, and NO_COLOR doesn't forbid them.
  static Style of_stdout();

  std::string bold(const std::string& text) const { return marked("1", text); }
  std::string faint(const std::string& text) const { return marked("2", text); }
  std::string good(const std::string& text) const { return marked("32", text); }
  std::string doubtful(const std::string& text) const { return marked("33", text); }
  std::string bad(const std::string& text) const { return marked("1;31", text); }

 private:
  std::string marked(const char* code, const std::string& text) const;
  bool colours_;
};

/// Breaks the text at blanks so that no line is longer than `width`; all but the first begin with `indent` blanks.
/// Line ends in the text stay. Words are never broken: paths are to be copied.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width);

/// The text and as many blanks as make it `width` characters.
std::string padded(const std::string& text, std::size_t width);

/// Whether a byte of UTF-8 goes on with a character that an earlier one began.
bool is_continuation(char byte);

/// The text without what a terminal would obey, or could not show: control characters, and bytes that are no UTF-8, are
/// question marks.
std::string printable(const std::string& text);

/// The first lines of the text, no more than `height`, without the end of the last one, which would move a terminal
/// on. Where not all fit, the last says how many are missing.
std::string fitted(const std::string& text, std::size_t height);

std::string upper_case(std::string text);

/// "11.7 GiB".
std::string bytes(std::uint64_t count);

/// 13000 as "13.0", 12080 as "12.8".
std::string cuda_version(int version);

}  // namespace cuprum::cli
