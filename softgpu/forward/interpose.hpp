// Functions that are answered here in place of a library's, and the two ways by which a program gets at them.
//
// Linked: the program calls nvrtcGetCUBIN, and the linker binds that to ours, which was loaded before all others. The
// address that it returns to tells whose NVRTC is meant.
//
// Opened: the program asks dlsym for "nvrtcGetCUBIN" of a handle. It gets a function that was made for this handle: one
// of a few copies, each of which knows one library.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>
#include <utility>

#include "softgpu/forward/library.hpp"

namespace softgpu::forward {

constexpr std::size_t kMostLibraries =
    16;  // more copies of NVRTC and nvJitLink than this in one process are left alone
extern std::array<std::atomic<void*>, kMostLibraries> opened_libraries;

/// The copies of one function. `Function` takes the library first, then what the program passes.
template <auto Function>
struct Copies;

template <typename Result, typename... Arguments, Result (*Function)(Library, Arguments...)>
struct Copies<Function> {
  template <std::size_t Slot>
  static Result of_slot(Arguments... arguments) {
    return Function(Library(opened_libraries[Slot].load()), arguments...);
  }

  static void* at(std::size_t slot) { return at(slot, std::make_index_sequence<kMostLibraries>()); }

 private:
  template <std::size_t... Slots>
  static void* at(std::size_t slot, std::index_sequence<Slots...>) {
    static constexpr Result (*copies[])(Arguments...) = {of_slot<Slots>...};
    return reinterpret_cast<void*>(copies[slot]);
  }
};

struct Row {
  std::string_view name;
  void* (*copy)(std::size_t slot);
};

/// The row of a function by its name as dlsym gets it, in nvjitlink.cpp and nvrtc.cpp; null when it isn't ours.
const Row* nvrtc_row(std::string_view name);
const Row* nvjitlink_row(std::string_view name);

}  // namespace softgpu::forward

#define SOFTGPU_EXPORT extern "C" __attribute__((visibility("default")))
