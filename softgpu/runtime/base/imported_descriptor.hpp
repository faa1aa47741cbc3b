// Descriptors that a program hands over to the driver: external semaphores and external memory.
#pragma once

#include <cstddef>

#include "softgpu/memory/shared_file.hpp"

namespace softgpu::runtime {

// Another number for the same file, so that the program's own stays the program's until all went well. Throws
// CUDA_ERROR_INVALID_HANDLE for a number that is not open, CUDA_ERROR_OPERATING_SYSTEM when there are too many.
memory::Descriptor duplicate_imported(int number);

// Throws CUDA_ERROR_OPERATING_SYSTEM when it can't be told.
bool is_eventfd(const memory::Descriptor& descriptor);

// The size of a memfd, which can't get smaller from here on: nobody can make our accesses fail by cutting it short.
// Throws CUDA_ERROR_INVALID_HANDLE for anything else, and for one that does not let itself be sealed.
std::size_t seal_size(const memory::Descriptor& descriptor);

// Of what pages a memfd is: mappings of it begin and end with one. Throws CUDA_ERROR_NOT_SUPPORTED for larger ones than
// addresses are handed out for.
std::size_t page_bytes(const memory::Descriptor& descriptor);

}  // namespace softgpu::runtime
