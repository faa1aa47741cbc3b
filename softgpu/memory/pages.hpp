// What can be said to the system about pages that are mapped. All are hints: where the system can't, nothing happens.
#pragma once

#include <cstddef>

namespace softgpu::memory {

// Gives the pages memory now rather than at the first access. Their contents stay.
void populate_pages(std::byte* begin, std::size_t bytes);

// Takes the memory of the pages that lie wholly inside the range: their contents are lost.
void discard_pages(std::byte* begin, std::size_t bytes);

}  // namespace softgpu::memory
