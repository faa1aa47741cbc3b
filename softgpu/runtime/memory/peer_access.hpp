// Which memory a context's kernels may use, and how.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "softgpu/exec/memory_access.hpp"
#include "softgpu/memory/allocation_table.hpp"

namespace softgpu::runtime {

class Context;
struct MemoryServices;

// What cuCtxEnablePeerAccess, cuMemPoolSetAccess and cuMemSetAccess have given. Anything with memory that nobody has to
// give: what was allocated on the context's device, or for all of them.
memory::Access access_of(const Context& context, const memory::Allocation& allocation);

// Whether there is any memory of which the context may use less than its pages allow. Others' is enough.
bool is_denied_memory(const MemoryServices& services, const Context& context);

// Memory is the process's, and to look at every access would cost too much. So kernels look that may meet memory which
// they may not use, or only read: they were given its address, which may be a mistake, or they pass it on and never
// touch it; or they use addresses that they find in memory. Null if no argument, or member of one, is such an address
// and the kernel finds none, or if there is no such memory.
std::shared_ptr<const exec::MemoryAccess> access_to_check(const MemoryServices& services,
                                                          const std::shared_ptr<const Context>& context,
                                                          std::span<const std::byte> arguments, bool finds_addresses);

}  // namespace softgpu::runtime
