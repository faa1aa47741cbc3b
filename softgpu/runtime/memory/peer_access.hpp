// Which memory of other devices a context's kernels may use.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "softgpu/exec/memory_access.hpp"
#include "softgpu/memory/allocation_table.hpp"

namespace softgpu::runtime {

class Context;
struct MemoryServices;

// What cuCtxEnablePeerAccess, cuMemPoolSetAccess and cuMemSetAccess have given; all memory of its own device, the
// host's and managed memory.
bool may_use(const MemoryServices& services, const Context& context, const memory::Allocation& allocation);

// Memory is the process's, and to look at every access would cost too much. So kernels look that may meet memory which
// they may not use: they were given its address, which may be a mistake, or they pass it on and never touch it; or they
// use addresses that they find in memory. Null if no argument, or member of one, is such an address and the kernel
// finds none, or if there is no such memory.
std::shared_ptr<const exec::MemoryAccess> access_to_check(const MemoryServices& services,
                                                          const std::shared_ptr<const Context>& context,
                                                          std::span<const std::byte> arguments, bool finds_addresses);

}  // namespace softgpu::runtime
