// Values of enumerations as indices of tables. Programs can cast any number to an enumeration: what is no value of it
// is answered, not followed beyond the table.
#pragma once

#include <cstddef>
#include <ostream>

namespace cuprum::support {

/// The entry of a table in the order of the enumeration; null for a number that is no value of it.
template <typename Entry, std::size_t Count, typename Enumeration>
constexpr const Entry* entry_of(const Entry (&table)[Count], Enumeration value) {
  const auto index = static_cast<std::size_t>(value);
  return index < Count ? table + index : nullptr;
}

/// The word for a value: "an unknown value (99)" for a number that is none.
template <std::size_t Count, typename Enumeration>
std::ostream& print_word(std::ostream& out, const char* const (&words)[Count], Enumeration value) {
  if (const char* const* word = entry_of(words, value)) return out << *word;
  return out << "an unknown value (" << static_cast<long long>(value) << ')';
}

}  // namespace cuprum::support
