#include "softgpu/runtime/work/context.hpp"

#include <vector>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/base/thread_storage.hpp"
#include "softgpu/runtime/work/green_context.hpp"
#include "softgpu/runtime/work/waiting.hpp"
#include "softgpu/runtime/work/work_services.hpp"

namespace softgpu::runtime {
namespace {

CUresult error_of(exec::Outcome outcome) {
  switch (outcome) {
    case exec::Outcome::completed:
    case exec::Outcome::cancelled: return CUDA_SUCCESS;
    case exec::Outcome::illegal_address: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case exec::Outcome::misaligned_address: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case exec::Outcome::illegal_instruction: return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case exec::Outcome::trap:
    case exec::Outcome::misuse:
    case exec::Outcome::barrier_deadlock: return CUDA_ERROR_LAUNCH_FAILED;
    case exec::Outcome::assertion: return CUDA_ERROR_ASSERT;
  }
  return CUDA_ERROR_UNKNOWN;
}

// What NVIDIA's driver writes to the system's log for such an error, and tells those who watch the device.
std::uint32_t xid_of(CUresult error) {
  switch (error) {
    case CUDA_ERROR_ILLEGAL_ADDRESS: return 31;  // a page fault
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION: return 13;  // an exception of the engine
    default: return 43;                              // the program's own error
  }
}

constexpr std::size_t kDefaultLimits[CU_LIMIT_MAX] = {
    1024,                  // stack
    std::size_t{1} << 20,  // printf
    std::size_t{8} << 20,  // malloc
    2,                     // device runtime: synchronisation depth
    2048,                  // and pending launches
    64,                    // L2 fetch granularity
    0,                     // persisting L2
    0,
    0,
    0,
};

std::vector<CUcontext>& current_contexts() {
  static auto& contexts = *new ThreadStorage<std::vector<CUcontext>>();
  return contexts.get();
}

}  // namespace

std::uint64_t next_context_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

Context::Context(WorkServices& services, Device& device, unsigned flags, bool primary)
    : services_(services), device_(device), id_(next_context_id()), primary_(primary), flags_(flags) {
  for (std::size_t i = 0; i < limits_.size(); ++i) limits_[i] = kDefaultLimits[i];
}

std::shared_ptr<Context> Context::create(WorkServices& services, Device& device, unsigned flags, bool primary) {
  const std::shared_ptr<Context> context(new Context(services, device, flags, primary));
  context->legacy_stream_ = std::make_unique<Stream>(*context, StreamKind::legacy, 0);
  usage::shared(context->counters().contexts).fetch_add(1, std::memory_order_relaxed);
  return context;
}

void Context::destroy(bool cancel) {
  if (!destroyed_.exchange(true)) usage::shared(counters().contexts).fetch_sub(1, std::memory_order_relaxed);
  if (cancel) {
    cancel_->store(true);
    services_.pool.notify();
  }
  wait_idle();
  services_.streams.remove_if([this](const Stream& stream) { return &stream.context() == this; });
  for (const auto& give_up : services_.at_context_end) give_up(*this);
  const std::scoped_lock lock(mutex_);
  kernel_heap_.reset();
}

std::shared_ptr<Stream> Context::per_thread_stream(GreenContext* green) {
  // Goes with the thread; what it has under way then is waited for by the context.
  static auto& of_threads = *new ThreadStorage<std::vector<std::shared_ptr<Stream>>>();
  auto& streams = of_threads.get();
  for (const auto& stream : streams)
    if (&stream->context() == this && stream->green() == green) return stream;
  std::erase_if(streams, [](const auto& stream) {
    return stream->context().destroyed() || (stream->green() != nullptr && stream->green()->destroyed());
  });
  return streams.emplace_back(std::make_shared<Stream>(*this, StreamKind::blocking, 0, green));
}

void Context::wait_idle() {
  // One at a time, because the list can't be held while waiting. New work may be added by other threads; what was
  // there when the call was made is what counts.
  std::vector<OpRef> pending;
  streams_.for_each_tail([&](Op& op, auto...) { pending.emplace_back(&op); });
  for (const OpRef& op : pending) wait_for(services_.pool, op->done_flag(), nullptr);
}

void WorkServices::wait_for_all_contexts() {
  for (const auto& context : contexts.all()) context->wait_idle();
}

void Context::record_outcome(exec::Outcome outcome, std::string_view reason) {
  if (const CUresult error = error_of(outcome); error != CUDA_SUCCESS) fail(error, reason);
}

void Context::fail(CUresult error, std::string_view reason) noexcept {
  const std::scoped_lock lock(mutex_);
  if (error_.load(std::memory_order_relaxed) != CUDA_SUCCESS) return;
  try {
    error_reason_ = reason;
  } catch (const std::bad_alloc&) {
    // Without words, then.
  }
  services_.note_fault(device_.ordinal(), xid_of(error));  // first: who sees the error may end the process
  error_.store(error, std::memory_order_release);
}

usage::DeviceCounters& Context::counters() const {
  return services_.usage.device[static_cast<std::size_t>(device_.ordinal())];
}

std::string Context::error_reason() const {
  const std::scoped_lock lock(mutex_);
  return error_reason_;
}

std::size_t Context::limit(CUlimit limit) const {
  require(limit >= 0 && limit < CU_LIMIT_MAX, CUDA_ERROR_INVALID_VALUE, "no such limit");
  return limits_[limit];
}

void Context::set_limit(CUlimit limit, std::size_t value) {
  require(limit >= 0 && limit < CU_LIMIT_MAX, CUDA_ERROR_INVALID_VALUE, "no such limit");
  const bool read_only = limit == CU_LIMIT_SHMEM_SIZE || limit == CU_LIMIT_CIG_ENABLED;
  require(!read_only && limit != CU_LIMIT_PERSISTING_L2_CACHE_SIZE, CUDA_ERROR_UNSUPPORTED_LIMIT,
          "this limit can't be set");
  const std::scoped_lock lock(mutex_);
  require(limit != CU_LIMIT_MALLOC_HEAP_SIZE || kernel_heap_ == nullptr, CUDA_ERROR_INVALID_VALUE,
          "the size of the heap has to be set before the first launch of a kernel that calls malloc() or free()");
  limits_[limit] = value;
}

exec::DeviceHeap& Context::kernel_heap() {
  const std::scoped_lock lock(mutex_);
  if (kernel_heap_ == nullptr)
    kernel_heap_ = std::make_unique<KernelHeap>(device_.heap(), limits_[CU_LIMIT_MALLOC_HEAP_SIZE]);
  return *kernel_heap_;
}

bool Context::enable_peer(std::uint64_t context_id) {
  const std::scoped_lock lock(mutex_);
  return peers_.insert(context_id).second;
}

bool Context::disable_peer(std::uint64_t context_id) {
  const std::scoped_lock lock(mutex_);
  return peers_.erase(context_id) != 0;
}

bool Context::has_peer(std::uint64_t context_id) const {
  const std::scoped_lock lock(mutex_);
  return peers_.contains(context_id);
}

namespace context_stack {

CUcontext current() {
  const auto& contexts = current_contexts();
  return contexts.empty() ? nullptr : contexts.back();
}

void set_current(CUcontext handle) {
  if (!current_contexts().empty()) current_contexts().pop_back();
  if (handle != nullptr) current_contexts().push_back(handle);
}

void push(CUcontext handle) { current_contexts().push_back(handle); }

CUcontext pop() {
  require(!current_contexts().empty(), CUDA_ERROR_INVALID_CONTEXT, "the calling thread has no current context");
  const CUcontext top = current_contexts().back();
  current_contexts().pop_back();
  return top;
}

}  // namespace context_stack

std::shared_ptr<Context> current_context(const WorkServices& services) {
  const CUcontext handle = context_stack::current();
  require(handle != nullptr, CUDA_ERROR_INVALID_CONTEXT, "the calling thread has no current context");
  std::shared_ptr<Context> context = services.contexts.find(handle);
  require(context != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED, "the current context was destroyed");
  return context;
}

}  // namespace softgpu::runtime
