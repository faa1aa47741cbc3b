// Loads, stores and fences. A vector access is one access for each element.
#include "softgpu/lower/memory/memory.hpp"

#include "softgpu/lower/memory/memory_order.hpp"

namespace softgpu::lower {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Operand;
using ptx::Space;

// A kernel's own parameters do not change. The .param variables of a body, and what a device function is given, do.
bool is_kernel_parameter(const FunctionLowering& f, const ptx::Address& address) {
  const auto* symbol = std::get_if<ptx::Symbol>(&address.base);
  return f.source.is_kernel && symbol && symbol->kind == ptx::Symbol::Kind::parameter;
}

bool is_read_only(const FunctionLowering& f, const Instruction& i) {
  if (i.has(Modifier::nc) || i.opcode == ptx::Opcode::ldu || i.space == Space::const_) return true;
  return i.space == Space::param && is_kernel_parameter(f, std::get<ptx::Address>(i.operands[1].value));
}

template <typename Access>
void set_semantics(Access& access, const Instruction& i, llvm::Align alignment) {
  access.setAlignment(alignment);
  access.setVolatile(i.has(Modifier::volatile_) || i.has(Modifier::mmio));
  // What is read past the first cache is read anew each time: loops wait for others this way.
  const bool fresh = i.has(Modifier::cv) || (i.opcode == ptx::Opcode::ld && i.has(Modifier::cg));
  const llvm::AtomicOrdering order =
      ordering_of(i, fresh ? llvm::AtomicOrdering::Monotonic : llvm::AtomicOrdering::NotAtomic);
  if (order != llvm::AtomicOrdering::NotAtomic) access.setAtomic(order, scope_of(i));
}

// A vector is aligned as a whole; simt/ sees to it that it is.
llvm::Align alignment_of(std::size_t elements, std::size_t element, unsigned size) {
  return llvm::commonAlignment(llvm::Align(llvm::PowerOf2Ceil(elements) * size), element * size);
}

}  // namespace

void lower_ld(FunctionLowering& f, const Instruction& i) {
  const ptx::Type type = i.types[0];
  const unsigned size = ptx::bits(type) / 8;
  llvm::Type* loaded_type = llvm_type(f.module.context(), type);
  Value* start = f.pointer(i.operands[1], i.space);
  const bool read_only = is_read_only(f, i);
  // Memory that nobody has written holds some value; to LLVM, that of the stack has none.
  const bool may_be_on_the_stack = !i.space || i.space == Space::local || i.space == Space::param;
  llvm::SmallVector<Value*, 8> values;  // all are loaded before any is written: a destination may be the address
  const llvm::ArrayRef<Operand> destinations = elements_of(i.operands[0]);
  for (std::size_t k = 0; k < destinations.size(); ++k) {
    llvm::LoadInst* load = f.ir.CreateLoad(loaded_type, f.displaced(start, k * size));
    set_semantics(*load, i, alignment_of(destinations.size(), k, size));
    if (read_only) load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(f.module.context(), {}));
    values.push_back(may_be_on_the_stack && !read_only ? f.ir.CreateFreeze(load) : load);
  }
  for (std::size_t k = 0; k < destinations.size(); ++k) f.write(destinations[k], values[k], type);
}

void lower_st(FunctionLowering& f, const Instruction& i) {
  const ptx::Type type = i.types[0];
  const unsigned size = ptx::bits(type) / 8;
  Value* start = f.pointer(i.operands[0], i.space);
  const llvm::ArrayRef<Operand> sources = elements_of(i.operands[1]);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    llvm::StoreInst* store = f.ir.CreateStore(f.read(sources[k], type), f.displaced(start, k * size));
    set_semantics(*store, i, alignment_of(sources.size(), k, size));
  }
}

void lower_fence(FunctionLowering& f, const Instruction& i) {
  if (i.has(Modifier::proxy) || i.has(Modifier::mbarrier_init)) return;  // there is one way to memory
  f.ir.CreateFence(ordering_of(i, llvm::AtomicOrdering::AcquireRelease), scope_of(i));
}

void lower_membar(FunctionLowering& f, const Instruction& i) {
  f.ir.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, scope_of(i));
}

}  // namespace softgpu::lower
