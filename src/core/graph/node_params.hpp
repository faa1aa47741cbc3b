// What nodes do, in the driver's form: the same for adding a node, updating one and updating one of an executable
// graph.
#pragma once

#include <cuprum/driver.hpp>
#include <cuprum/graph.hpp>
#include <memory>

#include "core/base/context.hpp"
#include "core/graph/host_function.hpp"
#include "core/graph/resources.hpp"
#include "core/stream/attachment.hpp"

namespace cuprum::core {

/// A node's parameters, what they refer to, and what the library has to remember of them.
struct NodeRequest {
  CUgraphNodeParams params;
  Owners owners = {};
  KnownOperands known = {};
};

/// What keeps an object that a node uses, beyond close().
std::shared_ptr<const void> keeper(const Event& event);
std::shared_ptr<const void> keeper(const Kernel& kernel);
std::shared_ptr<const void> keeper(const graph::Operand& operand);

/// The owners are the kernel and then the buffers among the arguments, of which `addresses` are the driver's to copy.
NodeRequest kernel_request(const ContextRecord& context, const LaunchConfig& config, const Kernel& kernel,
                           const detail::ArgumentList& arguments, const detail::KeptBuffers& buffers);
/// The same with arguments that are known at run time.
NodeRequest kernel_request(const ContextRecord& context, const LaunchConfig& config, const Kernel& kernel,
                           const KernelArguments& arguments);
NodeRequest memset_request(const ContextRecord& context, const graph::Operand& dst, detail::FillPattern pattern,
                           std::size_t width, std::size_t height, std::size_t pitch);
/// The owners are that of the destination and that of the source.
NodeRequest memcpy_request(const ContextRecord& context, const graph::Operand& dst, const graph::Operand& src,
                           const graph::CopyExtent& extent);
NodeRequest alloc_request(const ContextRecord& context, std::size_t size, const graph::GraphAllocOptions& options,
                          std::vector<CUmemAccessDesc>& access);
NodeRequest free_request(DevicePointer dptr);
NodeRequest child_request(CUgraph child);
NodeRequest record_request(const Event& event);
NodeRequest wait_request(const Event& event);
NodeRequest callback_request(std::function<void()> function);
NodeRequest callback_request(CUhostFn function, void* user_data, std::shared_ptr<const void> owner);
NodeRequest conditional_request(const ContextRecord& context, const graph::GraphCondition& condition,
                                graph::GraphConditionalType type, unsigned count);

/// Refuses what only launches on streams can have.
void check_node_config(const LaunchConfig& config);

/// The address of one side of a copy.
DevicePointer dst_address(const CUDA_MEMCPY3D& copy);
DevicePointer src_address(const CUDA_MEMCPY3D& copy);
void set_dst(CUDA_MEMCPY3D& copy, DevicePointer address);
void set_src(CUDA_MEMCPY3D& copy, DevicePointer address);

}  // namespace cuprum::core
