// Making memory pools as programs ask for them.
#pragma once

#include <cuda.h>

#include <memory>

namespace softgpu::runtime {

class Devices;
class MemoryPool;
struct MemoryServices;

// Checks cuMemPoolCreate's properties and makes the pool.
std::shared_ptr<MemoryPool> create_pool(const MemoryServices& services, const CUmemPoolProps& properties);

// Where a pool can be: checked_location(), but no node without a number; for managed memory also nowhere in particular.
CUmemLocation pool_location(const CUmemLocation& location, CUmemAllocationType type, const Devices& devices);

}  // namespace softgpu::runtime
