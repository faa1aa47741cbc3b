// Building messages.
#pragma once

#include <ios>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>

namespace cuprum::support {

/// A stream for text() and join(). Where memory runs out it says so, instead of leaving out the rest.
struct TextStream : std::ostringstream {
  TextStream() {
    imbue(std::locale::classic());
    exceptions(std::ios::badbit);
  }
};

/// The parts one after the other, each as operator<< prints it. Numbers are written as in C++, whatever locale the
/// program has set: much of this is read by compilers.
template <typename... Parts>
std::string text(const Parts&... parts) {
  TextStream out;
  (out << ... << parts);
  return std::move(out).str();
}

/// Without the zero at its end that C libraries count.
inline std::string without_zero(std::string text) {
  if (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

/// "a, b and c" style is hard to cut and paste: the items are separated by commas only.
template <typename Range>
std::string join(const Range& items, std::string_view separator = ", ") {
  TextStream out;
  std::string_view before;
  for (const auto& item : items) {
    out << before << item;
    before = separator;
  }
  return std::move(out).str();
}

}  // namespace cuprum::support
