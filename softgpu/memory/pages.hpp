// What can be said to the system about pages that are mapped, and asked. All are hints: where the system can't, nothing
// happens.
#pragma once

#include <cstddef>
#include <optional>

namespace softgpu::memory {

// Gives the pages memory now rather than at the first access. Their contents stay.
void populate_pages(std::byte* begin, std::size_t bytes);

// Takes the memory of the pages that lie wholly inside the range: their contents are lost.
void discard_pages(std::byte* begin, std::size_t bytes);

// The first pages of the range that have memory, in a row; what was never touched has none and reads as zeros. Begins
// and ends with a whole page. Empty: there are none. Where the system does not tell, all of them.
struct PagesWithMemory {
  std::byte* begin;
  std::size_t bytes;
};
std::optional<PagesWithMemory> find_pages_with_memory(std::byte* begin, std::size_t bytes);

}  // namespace softgpu::memory
