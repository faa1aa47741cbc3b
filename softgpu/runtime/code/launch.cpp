#include "softgpu/runtime/code/launch.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/code/cluster.hpp"
#include "softgpu/runtime/code/code_services.hpp"
#include "softgpu/runtime/code/module.hpp"
#include "softgpu/runtime/code/occupancy.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/memory/peer_access.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/green_context.hpp"
#include "softgpu/runtime/work/waiting.hpp"
#include "softgpu/runtime/work/work_services.hpp"

namespace softgpu::runtime {
namespace {

class KernelOp final : public Op {
 public:
  // `code`: what keeps the kernel's code loaded.
  KernelOp(std::shared_ptr<Context> context, std::shared_ptr<const void> code, exec::GridLaunch grid)
      : context_(std::move(context)), code_(std::move(code)), grid_(std::move(grid)) {}

 protected:
  void run() override {
    if (context_->error() != CUDA_SUCCESS) {
      complete(exec::Outcome::cancelled);
      return;
    }
    grid_.cancel = context_->cancel_flag();
    grid_.on_done = [op = OpRef(this), this](exec::Outcome outcome, std::string_view reason) {
      const InsidePool inside;
      complete(outcome, reason);
    };
    context_->work().pool.submit(std::move(grid_));
  }
  void give_up(const char* why) noexcept override {
    context_->fail(CUDA_ERROR_LAUNCH_FAILED, why);
    complete(exec::Outcome::cancelled);
  }

 private:
  void complete(exec::Outcome outcome, std::string_view reason = {}) {
    context_->record_outcome(outcome, reason);
    code_.reset();
    context_.reset();
    finish();
  }

  std::shared_ptr<Context> context_;
  std::shared_ptr<const void> code_;
  exec::GridLaunch grid_;
};

[[noreturn]] void refuse(const Function& function, const std::string& why) {
  throw Failure(CUDA_ERROR_INVALID_VALUE, "kernel '" + function.facts().name + "': " + why);
}

void check_extent(const Function& function, const char* what, abi::Dim3 dim, const int (&limits)[3]) {
  const std::uint32_t extents[3] = {dim.x, dim.y, dim.z};
  for (int i = 0; i < 3; ++i)
    if (extents[i] == 0 || extents[i] > static_cast<std::uint32_t>(limits[i]))
      refuse(function, std::string("the ") + what + " is " + text(dim) + "; it can be from (1, 1, 1) to " +
                           text({static_cast<std::uint32_t>(limits[0]), static_cast<std::uint32_t>(limits[1]),
                                 static_cast<std::uint32_t>(limits[2])}));
}

void check_extents(const Function& function, const LaunchRequest& request, const abi::Dim3& grid) {
  const jit::KernelFacts& facts = function.facts();
  check_extent(function, "grid", grid, kMaxGridDim);
  check_extent(function, "block", request.block, kMaxBlockDim);
  const std::uint64_t threads = std::uint64_t{request.block.x} * request.block.y * request.block.z;
  if (threads > facts.max_threads_per_block)
    refuse(function, "the block has " + std::to_string(threads) + " threads; the kernel can have " +
                         std::to_string(facts.max_threads_per_block));
  const auto& required = facts.required_threads;
  if (required[0] != 0 &&
      (required[0] != request.block.x || required[1] != request.block.y || required[2] != request.block.z))
    refuse(function, "the block is " + text(request.block) + "; the kernel was compiled for blocks of " +
                         text({required[0], required[1], required[2]}));
  const int shared = max_dynamic_shared(facts, function.settings());
  if (request.dynamic_shared_bytes > static_cast<unsigned>(shared))
    refuse(function, std::to_string(request.dynamic_shared_bytes) + " bytes of dynamic shared memory; it can have " +
                         std::to_string(shared) + " (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)");
}

Cluster checked_cluster(const Function& function, const Device& device, const abi::Dim3& grid,
                        const std::optional<abi::Dim3>& requested) {
  const Cluster cluster = cluster_of(function.facts(), function.settings(), grid, requested);
  require(blocks_of(cluster.size) == 1 || device.profile().has_clusters(), CUDA_ERROR_NOT_SUPPORTED,
          "devices have clusters from compute capability 9.0 on");
  require(blocks_of(cluster.size) <= abi::kMaxClusterBlocks, CUDA_ERROR_INVALID_CLUSTER_SIZE,
          "a cluster of more blocks than there can be");
  return cluster;
}

// All blocks of a cooperative grid have to fit onto the device at once.
void check_cooperative(const Function& function, const Module& module, const LaunchRequest& request,
                       const abi::Dim3& grid) {
  const Device& device = module.context().device();
  const OccupancyKernel kernel{function.facts(), max_dynamic_shared(function.facts(), function.settings())};
  const auto threads = static_cast<int>(request.block.x * request.block.y * request.block.z);
  const unsigned multiprocessors = request.green != nullptr ? request.green->multiprocessors().count()
                                                            : static_cast<unsigned>(device.multiprocessors());
  const auto held =
      std::uint64_t{multiprocessors} *
      static_cast<unsigned>(max_active_blocks(device.profile(), kernel, threads, request.dynamic_shared_bytes));
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  if (blocks > held)
    throw Failure(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                  "kernel '" + function.facts().name + "': " + std::to_string(blocks) +
                      " blocks that work together; the device, or the part of it, holds " + std::to_string(held) +
                      " at once");
}

std::vector<std::byte> copy_from_buffer(const Function& function, void** extra) {
  const void* buffer = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[i + 1];
    else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = *static_cast<const std::size_t*>(extra[i + 1]);
    else
      refuse(function, "unknown entry in the launch's extra parameters");
  }
  const std::size_t wanted = function.facts().param_bytes;
  if (wanted != 0 && (buffer == nullptr || size < wanted))
    refuse(function,
           "the parameter buffer has " + std::to_string(size) + " bytes; the kernel takes " + std::to_string(wanted));
  std::vector<std::byte> arguments(wanted);
  if (wanted != 0) std::memcpy(arguments.data(), buffer, wanted);
  return arguments;
}

std::vector<std::byte> copy_arguments(const Function& function, const LaunchRequest& request) {
  if (request.parameters != nullptr && request.extra != nullptr)
    refuse(function, "both parameters and a parameter buffer");
  if (request.extra != nullptr) return copy_from_buffer(function, request.extra);
  const jit::KernelFacts& facts = function.facts();
  if (!facts.params.empty() && request.parameters == nullptr)
    refuse(function, "the kernel takes parameters, none were given");
  std::vector<std::byte> arguments(facts.param_bytes);
  for (std::size_t i = 0; i < facts.params.size(); ++i) {
    if (request.parameters[i] == nullptr) refuse(function, "parameter " + std::to_string(i) + " is a null pointer");
    std::memcpy(arguments.data() + facts.params[i].offset, request.parameters[i], facts.params[i].size);
  }
  return arguments;
}

struct Blocks {
  abi::Dim3 grid;
  Cluster cluster;
};

Blocks blocks_for(const Function& function, const Module& module, const LaunchRequest& request) {
  const abi::Dim3 grid = grid_in_blocks(function.facts(), request.grid);
  return {grid, checked_cluster(function, module.context().device(), grid, request.cluster)};
}

struct CheckedLaunch {
  std::shared_ptr<Module> module;  // the kernel's, for the time of its use
  Blocks blocks;
};

CheckedLaunch check(const Function& function, const LaunchRequest& request, const Context* context) {
  CheckedLaunch launch{.module = function.module(), .blocks = {}};
  require(launch.module != nullptr, CUDA_ERROR_INVALID_HANDLE, "the kernel's module is unloaded");
  check_extents(function, request, grid_in_blocks(function.facts(), request.grid));
  launch.blocks = blocks_for(function, *launch.module, request);
  if (request.cooperative) check_cooperative(function, *launch.module, request, launch.blocks.grid);
  require(context == nullptr || context == &launch.module->context(), CUDA_ERROR_INVALID_HANDLE,
          "the kernel and the stream are of different contexts");
  return launch;
}

exec::GridLaunch make_grid(Function& function, Module& module, const LaunchRequest& request, const Blocks& blocks,
                           std::vector<std::byte> arguments, const void* queue) {
  const jit::KernelFacts& facts = function.facts();
  exec::KernelCode code = function.code(module.image(), request.block);
  auto access =
      access_to_check(module.services().memory, module.context().shared_from_this(), arguments, code.finds_addresses);
  if (access != nullptr) code = function.checking_code(module.image(), request.block);
  return exec::GridLaunch{.code = code,
                          .grid = blocks.grid,
                          .block = request.block,
                          .cluster = blocks.cluster.size,
                          .explicit_cluster = blocks.cluster.is_explicit,
                          .params = std::move(arguments),
                          .static_shared_bytes = facts.reserved_shared_bytes + facts.static_shared_bytes,
                          .dynamic_shared_bytes = request.dynamic_shared_bytes,
                          .shared_alignment = facts.shared_alignment,
                          .zeroed_shared_bytes = facts.reserved_shared_bytes,
                          .kernel_name = facts.name,
                          .priority = request.priority,
                          .device = static_cast<std::uint32_t>(module.context().device().ordinal()),
                          .cooperative = request.cooperative,
                          .workspace = request.cooperative ? std::make_unique<abi::GridWorkspace>() : nullptr,
                          .heap = facts.uses_heap ? &module.context().kernel_heap() : nullptr,
                          .access = std::move(access),
                          .queue = queue,
                          .seats = request.green != nullptr ? request.green->seats() : nullptr};
}

OpRef make_op(Function& function, const std::shared_ptr<Module>& module, const LaunchRequest& request,
              const Blocks& blocks, std::vector<std::byte> arguments, const void* queue,
              std::shared_ptr<exec::DeviceGraphs> graphs = nullptr) {
  exec::GridLaunch grid = make_grid(function, *module, request, blocks, std::move(arguments), queue);
  grid.graphs = std::move(graphs);
  return OpRef(new KernelOp(module->context().shared_from_this(), module, std::move(grid)));
}

// The same grid again; it is none of many threads that work together.
exec::GridLaunch copy_of(const exec::GridLaunch& grid) {
  return {.code = grid.code,
          .grid = grid.grid,
          .block = grid.block,
          .cluster = grid.cluster,
          .params = grid.params,
          .static_shared_bytes = grid.static_shared_bytes,
          .dynamic_shared_bytes = grid.dynamic_shared_bytes,
          .shared_alignment = grid.shared_alignment,
          .zeroed_shared_bytes = grid.zeroed_shared_bytes,
          .kernel_name = grid.kernel_name,
          .device = grid.device,
          .heap = grid.heap,
          .seats = grid.seats};
}

}  // namespace

PreparedLaunch prepare(Function& function, const LaunchRequest& request, const Context* context) {
  PreparedLaunch prepared{.module = check(function, request, context).module,
                          .arguments = copy_arguments(function, request)};
  function.code(prepared.module->image(), request.block);  // compiled here, so that launches need not
  return prepared;
}

OpRef make_op(Function& function, const std::shared_ptr<Module>& module, const LaunchRequest& request,
              std::vector<std::byte> arguments, const void* queue, std::shared_ptr<exec::DeviceGraphs> graphs) {
  return make_op(function, module, request, blocks_for(function, *module, request), std::move(arguments), queue,
                 std::move(graphs));
}

// A chain gives up nothing by running on one thread: there is one block at a time.
bool KernelChain::add(Function& function, const std::shared_ptr<Module>& module, const LaunchRequest& request,
                      const std::vector<std::byte>& arguments) {
  if (is_denied_memory(module->services().memory, module->context())) return false;
  const Blocks blocks = blocks_for(function, *module, request);
  if (blocks_of(blocks.grid) != 1 || blocks.cluster.is_explicit || request.cooperative) return false;
  if (!modules_.empty() && &modules_.front()->context() != &module->context()) return false;
  exec::GridLaunch grid = make_grid(function, *module, request, blocks, arguments, nullptr);
  if (grid.code.start_gang != nullptr) return false;
  if (!modules_.empty() && first_.seats != grid.seats) return false;
  if (modules_.empty()) {
    first_ = std::move(grid);
  } else {
    first_.code.stack_bytes = std::max(first_.code.stack_bytes, grid.code.stack_bytes);
    rest_->push_back(std::move(grid));
  }
  if (modules_.empty() || modules_.back() != module) modules_.push_back(module);
  return true;
}

bool KernelChain::may_run() const {
  const Module& module = *modules_.front();
  return !is_denied_memory(module.services().memory, module.context());
}

OpRef KernelChain::make_op(const OpPlace& place) const {
  exec::GridLaunch grid = copy_of(first_);
  grid.priority = place.priority;
  grid.queue = place.queue;
  grid.then = rest_;
  return OpRef(new KernelOp(modules_.front()->context().shared_from_this(), shared_from_this(), std::move(grid)));
}

void launch(const std::shared_ptr<Function>& function, Stream& stream, const LaunchRequest& request) {
  LaunchRequest here = request;
  here.green = stream.shared_green();
  const auto [module, blocks] = check(*function, here, &stream.context());
  const OpRef op = make_op(*function, module, here, blocks, copy_arguments(*function, here), &stream);
  stream.enqueue(*op);
}

}  // namespace softgpu::runtime
