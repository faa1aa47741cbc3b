// The container that nvcc and fatbinary make: entries with code for several architectures, each PTX or machine code,
// compressed or not.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace softgpu::runtime {

struct FatbinEntry {
  bool is_ptx = false;
  unsigned architecture = 0;  // 90 for compute_90 or sm_90
  const std::byte* header = nullptr;
};

// Whether the memory starts like a fatbin, or like the structure that points to one in a program that nvcc linked.
bool is_fatbin(const void* image, std::size_t size);

// Throws Failure when the headers make no sense.
std::vector<FatbinEntry> fatbin_entries(const void* image, std::size_t size);
// The entry's contents, decompressed.
std::string fatbin_contents(const FatbinEntry& entry);

}  // namespace softgpu::runtime
