#include "softgpu/exec/runtime_calls.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "softgpu/abi/mbarrier.hpp"
#include "softgpu/exec/block_run.hpp"
#include "softgpu/exec/conditional_values.hpp"
#include "softgpu/exec/device_graphs.hpp"
#include "softgpu/exec/device_heap.hpp"
#include "softgpu/exec/device_printf.hpp"
#include "softgpu/exec/fault.hpp"
#include "softgpu/exec/texture_calls.hpp"
#include "softgpu/exec/updatable_nodes.hpp"

#if defined(__x86_64__)
  #include <x86intrin.h>
#endif

namespace softgpu::exec {
namespace {

std::uint64_t nanoseconds_of(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// A GPU's %globaltimer is the time since 1970: libcu++ takes it for system_clock. But nobody sets it back.
std::uint64_t nanoseconds_now() {
  static const std::uint64_t start = nanoseconds_of(CLOCK_REALTIME) - nanoseconds_of(CLOCK_MONOTONIC);
  return start + nanoseconds_of(CLOCK_MONOTONIC);
}

void* local_memory(LocalMemory& memory, std::size_t bytes) {
  void* const local = memory.allocate(bytes);
  if (local) return local;
  end_kernel(Outcome::illegal_address,
             "its local memory needs more than the %zu MiB there are for a block, or than the system gives: less "
             "recursion, or smaller local arrays",
             LocalMemory::kCapacity >> 20);
}

// cudaError_t of functions that refuse their arguments or don't.
std::uint32_t cuda_error(bool is_done) { return is_done ? 0 : 1; }

// Read in pieces, each before a lock is taken: the address may be wrong, and then the kernel ends here.
bool write_node_arguments(std::uint64_t node, std::uint64_t offset, const void* value, std::uint64_t size) {
  if (!UpdatableNode::has_arguments(node, offset, size)) return false;
  std::array<std::byte, 256> piece;
  for (std::uint64_t done = 0; done < size; done += piece.size()) {
    const std::uint64_t bytes = std::min<std::uint64_t>(piece.size(), size - done);
    std::memcpy(piece.data(), static_cast<const std::byte*>(value) + done, bytes);
    if (!UpdatableNode::write_arguments(node, offset + done, piece.data(), bytes)) return false;
  }
  return true;
}

// cudaGraphKernelNodeUpdate
struct NodeUpdate {
  enum class Field : std::uint32_t { grid = 1, parameter = 2, enabled = 3 };
  std::uint64_t node;
  Field field;
  union {
    std::uint32_t grid[3];
    struct {
      std::uint64_t value, offset, size;
    } parameter;
    std::uint32_t is_enabled;
  };
};

bool apply(const NodeUpdate& update) {
  switch (update.field) {
    case NodeUpdate::Field::grid:
      return UpdatableNode::set_grid(update.node, {update.grid[0], update.grid[1], update.grid[2]});
    case NodeUpdate::Field::parameter:
      return write_node_arguments(update.node, update.parameter.offset,
                                  reinterpret_cast<const void*>(update.parameter.value), update.parameter.size);
    case NodeUpdate::Field::enabled: return UpdatableNode::set_enabled(update.node, update.is_enabled != 0);
  }
  return false;
}

}  // namespace
}  // namespace softgpu::exec

using namespace softgpu;
using namespace softgpu::exec;

extern "C" {

void* softgpu_rt_allocate_frame(std::uint64_t bytes, std::uint64_t alignment) {
  void* frame = running()->block_run->frames().allocate(bytes, alignment);
  if (frame) return frame;
  end_kernel(Outcome::illegal_address,
             "the state of its waiting threads needs more than the %zu MiB there are for a block, or than the system "
             "gives: less recursion around barriers",
             2 * FrameArena::kCapacity >> 20);
}

void softgpu_rt_release_frame(void* frame, std::uint64_t bytes, std::uint64_t alignment) {
  running()->block_run->frames().release(frame, bytes, alignment);
}

void* softgpu_rt_allocate_local(std::uint64_t bytes) { return local_memory(running()->block_run->local(), bytes); }

void softgpu_rt_release_local(void* memory, std::uint64_t bytes) {
  running()->block_run->local().release(memory, bytes);
}

void* softgpu_rt_enter_local(std::uint64_t bytes) { return local_memory(*running()->local, bytes); }

void softgpu_rt_leave_local(std::uint64_t bytes) { running()->local->release(bytes); }

void softgpu_rt_barrier_arrive(void* gang, std::uint32_t id, std::uint32_t threads) {
  running()->block_run->arrive(*static_cast<const abi::Gang*>(gang), id, threads);
}

void softgpu_rt_cluster_arrive(void* gang) {
  running()->block_run->arrive_at_cluster(*static_cast<const abi::Gang*>(gang));
}

void softgpu_rt_trap() { end_kernel(Outcome::trap, "trap instruction"); }

void softgpu_rt_divergent_barrier(std::uint32_t line) {
  end_kernel(Outcome::misuse, "the barrier in line %u of the PTX was reached by only some threads of a warp", line);
}

void softgpu_rt_misaligned_access(std::uint32_t line) {
  constexpr std::uint32_t kUnknown = ~0U;
  constexpr const char* kProblem = "access to an address that is not a multiple of its size";
  if (line == kUnknown) end_kernel(Outcome::misaligned_address, "%s", kProblem);
  end_kernel(Outcome::misaligned_address, "%s, in line %u of the PTX", kProblem, line);
}

void softgpu_rt_check_access(void* address, std::uint32_t writes, std::uint32_t line) {
  Running& run = *running();
  if (!run.launch->access) return;
  if (!run.permitted) run.permitted.emplace();
  const auto denied = run.launch->access->denied(address, writes != 0, *run.permitted);
  if (!denied) return;
  char where[32] = "", whose[32] = "the host";
  if (line != 0) std::snprintf(where, sizeof where, ", in line %u of the PTX", line);
  if (denied->device >= 0) std::snprintf(whose, sizeof whose, "device %d", denied->device);
  end_kernel(Outcome::illegal_address, "illegal access to address %p%s: it is memory of %s, %s", address, where, whose,
             denied->may_read ? "which this device may only read (CU_MEM_ACCESS_FLAGS_PROT_READ)"
                              : "to which this device was given no access (cuCtxEnablePeerAccess, cuMemPoolSetAccess "
                                "or cuMemSetAccess give it)");
}

void softgpu_rt_assert_fail(void* message, void* file, std::uint32_t line, void* function, std::uint32_t block_x,
                            std::uint32_t block_y, std::uint32_t block_z, std::uint32_t thread_x,
                            std::uint32_t thread_y, std::uint32_t thread_z) {
  // Formatted first: a bad pointer must not leave the kernel while stderr is locked. On the stack: the little
  // thread-local storage that a dlopened library may have in every thread is needed for what signal handlers read.
  char text[2048];
  std::snprintf(text, sizeof text, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                static_cast<const char*>(file), line, static_cast<const char*>(function), block_x, block_y, block_z,
                thread_x, thread_y, thread_z, static_cast<const char*>(message));
  std::fputs(text, stderr);
  text[std::strlen(text) - 1] = '\0';
  end_kernel(Outcome::assertion, "%s", text);
}

std::uint32_t softgpu_rt_vprintf(void* format, void* arguments) {
  if (!format) return static_cast<std::uint32_t>(-1);
  static thread_local PrintedText text;
  text.clear();
  const int used =
      format_device_printf(text, static_cast<const char*>(format), static_cast<const std::byte*>(arguments));
  // In order with what the host prints through stdio, and at once: programs expect it at the next synchronisation.
  std::fwrite(text.view().data(), 1, text.view().size(), stdout);
  std::fflush(stdout);
  return static_cast<std::uint32_t>(used);
}

void* softgpu_rt_malloc(std::uint64_t bytes) {
  DeviceHeap* const heap = running()->launch->heap;
  return heap ? heap->allocate(bytes) : nullptr;
}

void softgpu_rt_free(void* memory) {
  DeviceHeap* const heap = running()->launch->heap;
  if (!memory || (heap && heap->release(memory))) return;
  end_kernel(Outcome::misuse, "free() of %p, which is not from malloc() of device code or was freed before", memory);
}

void softgpu_rt_set_conditional(std::uint64_t handle, std::uint32_t value) {
  if (ConditionalValues::all().set(handle, value)) return;
  end_kernel(
      Outcome::misuse,
      "cudaGraphSetConditional() of %#llx, which is not a handle that cuGraphConditionalHandleCreate made, or whose "
      "graph is gone",
      static_cast<unsigned long long>(handle));
}

std::uint32_t softgpu_rt_launch_graph(std::uint64_t graph, std::uint64_t stream) {
  DeviceGraphs* const graphs = running()->launch->graphs.get();
  if (graphs) return graphs->launch(graph, stream);
  end_kernel(Outcome::misuse, "cudaGraphLaunch() is for kernels that are nodes of a graph");
}

std::uint32_t softgpu_rt_set_node_parameter(std::uint64_t node, std::uint64_t offset, void* value, std::uint64_t size) {
  return cuda_error(write_node_arguments(node, offset, value, size));
}

std::uint32_t softgpu_rt_set_node_grid(std::uint64_t node, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return cuda_error(UpdatableNode::set_grid(node, {x, y, z}));
}

std::uint32_t softgpu_rt_set_node_enabled(std::uint64_t node, std::uint32_t enabled) {
  return cuda_error(UpdatableNode::set_enabled(node, enabled != 0));
}

std::uint32_t softgpu_rt_update_nodes(void* updates, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    NodeUpdate update;
    std::memcpy(&update, static_cast<const std::byte*>(updates) + i * sizeof update, sizeof update);
    if (!apply(update)) return cuda_error(false);
  }
  return cuda_error(true);
}

std::uint64_t softgpu_rt_current_graph() {
  DeviceGraphs* const graphs = running()->launch->graphs.get();
  return graphs ? graphs->current() : 0;
}

// The threads that can reach an mbarrier object run on one thread of the host: no atomic operation is needed.
std::uint64_t softgpu_rt_mbarrier_update(void* object, std::uint32_t arrivals, std::uint32_t bytes,
                                         std::uint32_t dropped) {
  std::uint64_t before;
  std::memcpy(&before, object, sizeof before);
  const std::uint64_t after = abi::Mbarrier::updated(before, arrivals, bytes, dropped);
  std::memcpy(object, &after, sizeof after);
  return before;
}

void softgpu_rt_copy(void* destination, void* source, std::uint32_t bytes) { std::memcpy(destination, source, bytes); }

void softgpu_rt_copy_and_fill(void* destination, void* source, std::uint32_t source_bytes, std::uint32_t bytes) {
  const std::uint32_t copied = std::min(source_bytes, bytes);
  std::memcpy(destination, source, copied);
  std::memset(static_cast<std::byte*>(destination) + copied, 0, bytes - copied);
}

std::uint64_t softgpu_rt_cycles() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return nanoseconds_now();
#endif
}

std::uint64_t softgpu_rt_nanoseconds() { return nanoseconds_now(); }

}  // extern "C"

namespace softgpu::exec {
namespace {

// The letters of signatures, as in the table.
template <typename T>
constexpr char letter() {
  if constexpr (std::is_void_v<T>)
    return 'v';
  else if constexpr (std::is_pointer_v<T>)
    return 'p';
  else if constexpr (std::is_same_v<T, bool>)
    return 'b';
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return 'h';
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return 'i';
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return 'l';
  else if constexpr (std::is_same_v<T, float>)
    return 'f';
  else if constexpr (std::is_same_v<T, double>)
    return 'd';
}

template <typename Result, typename... Arguments>
constexpr bool has_signature(Result (*)(Arguments...), std::string_view result, std::string_view arguments) {
  const char letters[] = {letter<Arguments>()..., '\0'};
  return result[0] == letter<Result>() && arguments == letters;
}

#define RUNTIME_CALL(name, result, arguments, kind) \
  static_assert(has_signature(softgpu_rt_##name, #result, arguments), #name " is not what runtime_calls.def says");
#include "softgpu/abi/runtime_calls.def"
#undef RUNTIME_CALL

}  // namespace

std::span<const RuntimeCall> runtime_calls() {
  static const std::array table = {
#define RUNTIME_CALL(name, result, arguments, kind) \
  RuntimeCall{"softgpu_rt_" #name, reinterpret_cast<void*>(&softgpu_rt_##name)},
#include "softgpu/abi/runtime_calls.def"
#undef RUNTIME_CALL
  };
  return table;
}

}  // namespace softgpu::exec
