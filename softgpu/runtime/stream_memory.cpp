#include "softgpu/runtime/stream_memory.hpp"

#include "softgpu/runtime/memory_operations.hpp"
#include "softgpu/runtime/stream_work.hpp"

namespace softgpu::runtime {
namespace {

using Kind = MemoryOperation::Kind;

template <typename T>
bool holds_for(const MemoryOperation& wait) {
  using Signed = std::make_signed_t<T>;
  const T found = __atomic_load_n(reinterpret_cast<const T*>(wait.address), __ATOMIC_ACQUIRE);
  const T value = static_cast<T>(wait.value);
  switch (wait.flags) {
    case CU_STREAM_WAIT_VALUE_EQ: return found == value;
    case CU_STREAM_WAIT_VALUE_AND: return (found & value) != 0;
    case CU_STREAM_WAIT_VALUE_NOR: return static_cast<T>(~(found | value)) != 0;
    default: return static_cast<Signed>(static_cast<T>(found - value)) >= 0;
  }
}

bool holds(const MemoryOperation& wait) {
  return wait.bytes == 4 ? holds_for<std::uint32_t>(wait) : holds_for<std::uint64_t>(wait);
}

void perform(const MemoryOperation& write) {
  if (write.bytes == 4)
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(write.address), static_cast<std::uint32_t>(write.value),
                     __ATOMIC_RELEASE);
  else
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(write.address), write.value, __ATOMIC_RELEASE);
  Driver::get().value_waits().look();
}

class ValueWaitOp final : public Op {
 public:
  ValueWaitOp(std::shared_ptr<Context> context, const MemoryOperation& wait)
      : context_(std::move(context)), wait_(wait) {}

 protected:
  // A context that has failed or is torn down waits for nothing.
  void run() override {
    const auto over = [this] {
      return context_->error() != CUDA_SUCCESS || context_->cancel_flag()->load() || holds(wait_);
    };
    if (over()) return complete();
    Driver::get().value_waits().add(over, [op = OpRef(this), this] { complete(); });
  }

 private:
  void complete() {
    context_.reset();
    finish();
  }

  std::shared_ptr<Context> context_;
  const MemoryOperation wait_;
};

}  // namespace

void check(const MemoryOperation& operation) {
  if (operation.kind == Kind::barrier) {
    require(operation.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU, CUDA_ERROR_INVALID_VALUE, "no such barrier");
    return;
  }
  const bool wait = operation.kind == Kind::wait;
  constexpr unsigned kFlush = CU_STREAM_WAIT_VALUE_FLUSH;
  require(!wait || (operation.flags & kFlush) == 0, CUDA_ERROR_NOT_SUPPORTED, "softgpu has no remote writes to flush");
  require(operation.flags <= (wait ? unsigned{CU_STREAM_WAIT_VALUE_NOR} : unsigned{CU_STREAM_WRITE_VALUE_DEFAULT}),
          CUDA_ERROR_INVALID_VALUE, "unknown flags");
  require(operation.address % operation.bytes == 0, CUDA_ERROR_INVALID_VALUE,
          "the address is not a multiple of the value's size");
  const auto extent = Driver::get().allocations().extent(to_pointer(operation.address));
  require(extent && extent->bytes >= operation.bytes, CUDA_ERROR_INVALID_VALUE,
          "the address is not one of memory that devices can use");
}

void enqueue(Stream& stream, const MemoryOperation& operation) {
  OpRef op;
  switch (operation.kind) {
    case Kind::wait: op = OpRef(new ValueWaitOp(stream.context().shared_from_this(), operation)); break;
    case Kind::write: enqueue_work(stream, operation.bytes, [operation] { perform(operation); }); return;
    // Everything in a stream sees what came before it.
    case Kind::barrier: op = OpRef(new MarkerOp); break;
  }
  stream.enqueue(*op);
}

}  // namespace softgpu::runtime
