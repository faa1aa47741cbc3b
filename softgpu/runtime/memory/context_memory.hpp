// The memory of a context, all of it.
#pragma once

namespace softgpu::runtime {

class Context;
struct MemoryServices;

// When a context goes: its arrays and texture objects lose their handles, its memory is freed.
void release_memory_of(MemoryServices& services, const Context& context);

}  // namespace softgpu::runtime
