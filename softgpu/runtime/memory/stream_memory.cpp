#include "softgpu/runtime/memory/stream_memory.hpp"

#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/stream_work.hpp"

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

void perform(ValueWaits& waits, const MemoryOperation& write) {
  if (write.bytes == 4)
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(write.address), static_cast<std::uint32_t>(write.value),
                     __ATOMIC_RELEASE);
  else
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(write.address), write.value, __ATOMIC_RELEASE);
  waits.look();
}

class MemoryOperationsOp final : public Op {
 public:
  MemoryOperationsOp(std::shared_ptr<Context> context, std::vector<MemoryOperation> operations)
      : context_(std::move(context)), operations_(std::move(operations)) {}

 protected:
  void run() override {
    for (; next_ < operations_.size() && !is_over(); ++next_) {
      const MemoryOperation& operation = operations_[next_];
      if (operation.kind == Kind::write) perform(context_->work().value_waits, operation);
      // Everything in a stream sees what came before it, so that a barrier has nothing to do.
      if (operation.kind == Kind::wait && !holds(operation)) return wait(operation);
    }
    context_.reset();
    finish();
  }

 private:
  // A context that has failed or is torn down waits for nothing.
  bool is_over() const { return context_->error() != CUDA_SUCCESS || context_->cancel_flag()->load(); }

  void wait(const MemoryOperation& operation) {
    context_->work().value_waits.add([&operation, this] { return is_over() || holds(operation); },
                                     [op = OpRef(this), this] { run(); });
  }

  std::shared_ptr<Context> context_;
  const std::vector<MemoryOperation> operations_;
  std::size_t next_ = 0;
};

}  // namespace

void check(const MemoryServices& services, const MemoryOperation& operation, const Context& context) {
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
  const auto extent = services.allocations.extent(to_pointer(operation.address), operation.bytes);
  require(extent && extent->bytes >= operation.bytes, CUDA_ERROR_INVALID_VALUE,
          "the address is not one of memory that devices can use");
  const memory::Access needed = wait ? memory::Access::read : memory::Access::read_write;
  require(!extent->mapped || extent->mapped->of(context.device().ordinal()) >= needed, CUDA_ERROR_INVALID_VALUE,
          "the device was not given the access to the memory that the operation needs (cuMemSetAccess)");
}

OpRef make_op(const OpPlace& place, std::vector<MemoryOperation> operations) {
  return OpRef(new MemoryOperationsOp(place.context, std::move(operations)));
}

void enqueue(Stream& stream, std::vector<MemoryOperation> operations) {
  const OpRef op = make_op(stream.place(), std::move(operations));
  stream.enqueue(*op);
}

}  // namespace softgpu::runtime
