// SOFTGPU_TRACE=calls: every call of a program, its arguments and its result, on stderr.
//
//   softgpu: cuMemAlloc_v2(dptr=0x7ffc21a0 -> 0x7f1200000000, bytesize=1024) -> CUDA_SUCCESS
//
// A pointer to a number or a handle is followed by what it points to once the call has succeeded.
#pragma once

#include <initializer_list>
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

// An argument, and how to write one of its type: so that each type has its code once, not once in every call.
class TracedArgument {
 public:
  template <typename T>
  TracedArgument(const char* name, const T& value)
      : name_(name), value_(&value), text_([](const void* argument, bool succeeded) {
          return text_of_argument(*static_cast<const T*>(argument), succeeded);
        }) {}
  void add_to(std::string& text, bool succeeded) const;

 private:
  const char* name_;
  const void* value_;
  std::string (*text_)(const void*, bool);
};

void trace(const char* name, CUresult result, std::initializer_list<TracedArgument> arguments);

}  // namespace softgpu::api
