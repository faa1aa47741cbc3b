// How options become arguments: the same for every compiler and linker that is told what to do by strings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/text.hpp"

namespace cuprum::core {

using Arguments = std::vector<std::string>;

/// How a value is written behind its option.
enum class Style {
  none,      // there is no such option
  flag,      // the option alone, when the value is true
  boolean,   // =true or =false
  digit,     // =1 or =0
  level,     // =3 or =0, of optimisation
  value,     // =value; once for each when there are several
  appended,  // the value right behind the option
};

struct Spelling {
  Style style = Style::none;
  const char* option = "";
};

/// Whether the caller asked for anything: `false` is the absence of what a flag is for, but a choice of its own where
/// both can be said.
inline bool is_given(Spelling spelling, const std::optional<bool>& value) {
  return value && (*value || spelling.style != Style::flag);
}
template <typename T>
bool is_given(Spelling, const std::optional<T>& value) {
  return value.has_value();
}
template <typename T>
bool is_given(Spelling, const std::vector<T>& values) {
  return !values.empty();
}

inline void write(Arguments& out, Spelling spelling, const std::optional<bool>& value) {
  if (spelling.style == Style::none || !is_given(spelling, value)) return;
  std::string argument = spelling.option;
  switch (spelling.style) {
    case Style::flag: break;
    case Style::digit: argument += *value ? "=1" : "=0"; break;
    case Style::level: argument += *value ? "=3" : "=0"; break;
    default: argument += *value ? "=true" : "=false";
  }
  out.push_back(std::move(argument));
}

template <typename T>
void write(Arguments& out, Spelling spelling, const std::optional<T>& value) {
  if (!value || spelling.style == Style::none) return;
  if (spelling.style == Style::flag) {
    out.emplace_back(spelling.option);
  } else {
    out.push_back(support::text(spelling.option, spelling.style == Style::appended ? "" : "=", *value));
  }
}

template <typename T>
void write(Arguments& out, Spelling spelling, const std::vector<T>& values) {
  if (spelling.style == Style::none) return;
  for (const T& value : values) out.push_back(support::text(spelling.option, '=', value));
}

}  // namespace cuprum::core
