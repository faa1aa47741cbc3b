// What a program puts into a stream: done when it is its turn or, where the stream is captured, made a node of a graph.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "softgpu/runtime/code/launch.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/stream_memory.hpp"

namespace softgpu::runtime {

struct GraphServices;
class MemoryPool;
struct SignalSemaphoresWork;
struct WaitSemaphoresWork;

// See copy_async(), fill_async(), enqueue() and launch().
void submit_copy(GraphServices& services, Stream& stream, const Copy& copy);
void submit_fill(GraphServices& services, Stream& stream, const Fill& fill);
void submit_memory_operations(Stream& stream, std::vector<MemoryOperation> operations);
// Returns what kernels know the node by, when it has become one that they can change; else null.
CUgraphDeviceNode submit_launch(Stream& stream, const std::shared_ptr<Function>& function,
                                const LaunchRequest& request);
// Runs `function` on the thread for host functions when it is its turn.
void submit_host_function(Stream& stream, CUhostFn function, void* data);
// Signal or wait for external semaphores when it is their turn.
void submit_signal(Stream& stream, SignalSemaphoresWork work);
void submit_wait(Stream& stream, WaitSemaphoresWork work);

// See allocate_async() and free_async(); the memory to be freed may also be a graph's.
CUdeviceptr submit_allocation(GraphServices& services, Stream& stream, MemoryPool& pool, std::size_t bytes);
void submit_free(GraphServices& services, Stream& stream, CUdeviceptr pointer);

// As free_device(), for a graph's memory, too.
void free_any_device(GraphServices& services, CUdeviceptr pointer);

}  // namespace softgpu::runtime
