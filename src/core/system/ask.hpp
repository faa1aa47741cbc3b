// Asking NVML: what most of its functions have in common.
#pragma once

#include <cuprum/error.hpp>
#include <cuprum/nvml.hpp>
#include <string>
#include <vector>

namespace cuprum::core {

/// What a function writes to its last parameter.
template <auto Entry, typename Value, typename... Arguments>
Value ask(Arguments... arguments) {
  Value value{};
  nvml::call<Entry>(arguments..., &value);
  return value;
}

template <auto Entry, typename... Arguments>
unsigned ask_number(Arguments... arguments) {
  return ask<Entry, unsigned>(arguments...);
}

/// A feature that is on or off.
template <auto Entry, typename... Arguments>
bool ask_state(Arguments... arguments) {
  return ask<Entry, int>(arguments...) == 1;
}

/// A text that a function writes to an array of its last two parameters.
template <auto Entry, typename... Arguments>
std::string ask_text(Arguments... arguments) {
  char text[1024] = "";
  nvml::call<Entry>(arguments..., static_cast<char*>(text), static_cast<unsigned>(sizeof text));
  return text;
}

/// Throws as nvml::call does, for a code that came some other way.
[[noreturn]] void raise_nvml_error(int code, const char* call);

/// The numbers of the bits that are set.
template <typename Word>
std::vector<unsigned> bits_of(const std::vector<Word>& words) {
  std::vector<unsigned> bits;
  for (std::size_t i = 0; i < words.size(); ++i)
    for (unsigned bit = 0; bit < 8 * sizeof(Word); ++bit)
      if (words[i] >> bit & 1) bits.push_back(static_cast<unsigned>(i * 8 * sizeof(Word)) + bit);
  return bits;
}

/// The values of an enumeration of bits that a number has.
template <typename Enum>
std::vector<Enum> values_of(unsigned long long bits) {
  std::vector<Enum> values;
  for (const unsigned bit : bits_of(std::vector{bits})) values.push_back(static_cast<Enum>(1ull << bit));
  return values;
}

/// The other way round.
template <typename Enum>
unsigned long long bits_for(const std::vector<Enum>& values) {
  unsigned long long bits = 0;
  for (const Enum value : values) bits |= static_cast<unsigned long long>(value);
  return bits;
}

}  // namespace cuprum::core
