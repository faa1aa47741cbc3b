// A kernel's object code for one block shape, before it is linked, with what is known of it. This is what the cache
// on disk holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace softgpu::jit {

struct CompiledKernel {
  std::uint32_t width = 0;
  bool suspends = false;
  bool finds_addresses = false;  // in memory, and uses them
  std::uint64_t stack_bytes = 0;
  std::string object;  // relocatable ELF; its one export is kEntryName
};

inline constexpr const char* kEntryName = "softgpu_kernel";

std::string to_bytes(const CompiledKernel&);
std::optional<CompiledKernel> from_bytes(std::string);

}  // namespace softgpu::jit
