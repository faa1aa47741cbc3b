// Where memory is or should be: CUmemLocation.
#pragma once

#include <cuda.h>

namespace softgpu::runtime {

class Devices;

inline bool operator==(const CUmemLocation& a, const CUmemLocation& b) { return a.type == b.type && a.id == b.id; }

// The nodes of host memory are numbered from 0; machines without NUMA have one.
bool is_numa_node(int id);
// The node closest to the processor that runs the calling thread.
int current_numa_node();

// A device, the host or one of its nodes, as programs name them, in one form: the host has id 0, the calling thread's
// node its number. Throws CUDA_ERROR_INVALID_DEVICE for a device that is none, CUDA_ERROR_INVALID_VALUE for the rest.
CUmemLocation checked_location(const CUmemLocation& location, const Devices& devices);

// The older way to name one: a device, or CU_DEVICE_CPU.
CUmemLocation location_of_device(CUdevice device);
// And back; CU_DEVICE_INVALID for none.
CUdevice device_of_location(const CUmemLocation& location);

}  // namespace softgpu::runtime
