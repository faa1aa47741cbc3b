// SOFTGPU_TRACE=calls: every call of a program, its arguments and its result, on stderr.
//
//   softgpu: cuMemAlloc_v2(dptr=0x7ffc21a0 -> 0x7f1200000000, bytesize=1024) -> CUDA_SUCCESS
//
// A pointer to a number or a handle is followed by what it points to once the call has succeeded.
#pragma once

#include <string>
#include <type_traits>

#include "softgpu/api/base/headers.hpp"
#include "softgpu/runtime/driver.hpp"

namespace softgpu::api {

inline bool tracing() { return runtime::Driver::trace().calls; }

// The text of one argument. Those of pointers do not look at what is there.
std::string text_of(const void* pointer);
std::string text_of(const char* text);           // in quotes, and no more than its beginning
std::string text_of(unsigned long long number);  // an address or flags
std::string text_of(double number);
std::string text_of(const CUmemLocation& location);
std::string text_of(const CUlaunchConfig* config);
std::string text_of(const CUDA_MEMCPY2D* copy);
std::string text_of(const CUDA_MEMCPY3D* copy);

template <typename T>
constexpr bool is_shown_behind_pointer = !std::is_const_v<T> && !std::is_same_v<T, char> && !std::is_same_v<T, void*> &&
                                         (std::is_arithmetic_v<T> || std::is_pointer_v<T>);

template <typename T>
std::string text_of_argument(const T& value, bool succeeded) {
  if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<long long>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return text_of(static_cast<double>(value));
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, unsigned long long>) {
    return std::to_string(value);
  } else if constexpr (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>) {
    return text_of(reinterpret_cast<const void*>(value));
  } else if constexpr (std::is_pointer_v<T>) {
    std::string text = text_of(value);
    if constexpr (is_shown_behind_pointer<std::remove_pointer_t<T>>)
      if (succeeded && value != nullptr) text += " -> " + text_of_argument(*value, false);
    return text;
  } else if constexpr (requires { text_of(value); }) {
    return text_of(value);
  } else {
    return "{...}";
  }
}

// A call of which the arguments are written; then the line is printed.
void print_call(const char* name, const std::string& arguments, CUresult result);

inline void add_arguments(std::string&, bool) {}
template <typename T, typename... Rest>
void add_arguments(std::string& text, bool succeeded, const char* name, const T& value, const Rest&... rest) {
  if (!text.empty()) text += ", ";
  text.append(name).append("=").append(text_of_argument(value, succeeded));
  add_arguments(text, succeeded, rest...);
}

// Names and values take turns.
template <typename... Arguments>
void trace(const char* name, CUresult result, const Arguments&... arguments) {
  std::string text;
  add_arguments(text, result == CUDA_SUCCESS, arguments...);
  print_call(name, text, result);
}

}  // namespace softgpu::api
