#include "softgpu/simt/thread_values.hpp"

#include <cstddef>
#include <optional>
#include <stdexcept>

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"

namespace softgpu::simt {

using namespace llvm;
using abi::Mark;

FunctionType* GangArguments::type(LLVMContext& context) {
  Type* pointer = PointerType::getUnqual(context);
  Type* i32 = Type::getInt32Ty(context);
  return FunctionType::get(Type::getVoidTy(context), {pointer, pointer, i32, i32, i32, i32, i32}, false);
}

GangArguments GangArguments::of(Function& gang) {
  return {gang.getArg(0), gang.getArg(1), gang.getArg(2), gang.getArg(3),
          gang.getArg(4), gang.getArg(5), gang.getArg(6)};
}

Value* load_block_field(IRBuilder<>& builder, Value* block, std::size_t offset, Type* type) {
  Value* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), block, offset);
  LoadInst* load = builder.CreateLoad(type, address);
  load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(builder.getContext(), {}));
  return load;
}

namespace {

struct BlockField {
  std::size_t offset;
  char type;
};

std::optional<BlockField> block_field_of(Mark mark) {
  switch (mark) {
    case Mark::params: return BlockField{offsetof(abi::Block, params), 'p'};
    case Mark::shared: return BlockField{offsetof(abi::Block, shared), 'p'};
    case Mark::ntid_x: return BlockField{offsetof(abi::Block, size.x), 'i'};
    case Mark::ntid_y: return BlockField{offsetof(abi::Block, size.y), 'i'};
    case Mark::ntid_z: return BlockField{offsetof(abi::Block, size.z), 'i'};
    case Mark::ctaid_x: return BlockField{offsetof(abi::Block, index.x), 'i'};
    case Mark::ctaid_y: return BlockField{offsetof(abi::Block, index.y), 'i'};
    case Mark::ctaid_z: return BlockField{offsetof(abi::Block, index.z), 'i'};
    case Mark::nctaid_x: return BlockField{offsetof(abi::Block, grid.x), 'i'};
    case Mark::nctaid_y: return BlockField{offsetof(abi::Block, grid.y), 'i'};
    case Mark::nctaid_z: return BlockField{offsetof(abi::Block, grid.z), 'i'};
    case Mark::cluster_nctaid_x: return BlockField{offsetof(abi::Block, cluster.x), 'i'};
    case Mark::cluster_nctaid_y: return BlockField{offsetof(abi::Block, cluster.y), 'i'};
    case Mark::cluster_nctaid_z: return BlockField{offsetof(abi::Block, cluster.z), 'i'};
    case Mark::is_explicit_cluster: return BlockField{offsetof(abi::Block, explicit_cluster), 'i'};
    case Mark::smid: return BlockField{offsetof(abi::Block, worker), 'i'};
    case Mark::gridid: return BlockField{offsetof(abi::Block, grid_id), 'l'};
    case Mark::workspace: return BlockField{offsetof(abi::Block, workspace), 'l'};
    case Mark::total_smem_size: return BlockField{offsetof(abi::Block, shared_bytes), 'i'};
    case Mark::dynamic_smem_size: return BlockField{offsetof(abi::Block, dynamic_shared_bytes), 'i'};
    default: return std::nullopt;
  }
}

Type* type_of(IRBuilder<>& builder, char letter) {
  if (letter == 'p') return builder.getPtrTy();
  return letter == 'l' ? builder.getInt64Ty() : builder.getInt32Ty();
}

}  // namespace

Value* ThreadValues::block_field(std::size_t offset, Type* type) {
  return load_block_field(builder_, arguments_.block, offset, type);
}

Value* ThreadValues::base(Mark mark) {
  Value*& value = bases_[static_cast<unsigned>(mark)];
  if (!value) value = make_base(mark);
  return bases_[static_cast<unsigned>(mark)] = value;
}

Value* ThreadValues::make_base(Mark mark) {
  if (shape_ == abi::BlockShape::line && (mark == Mark::ntid_y || mark == Mark::ntid_z)) return builder_.getInt32(1);
  if (const auto field = block_field_of(mark)) return block_field(field->offset, type_of(builder_, field->type));
  switch (mark) {
    case Mark::tid_x: return arguments_.x;
    case Mark::tid_y: return arguments_.y;
    case Mark::tid_z: return arguments_.z;
    case Mark::laneid: return builder_.CreateAnd(arguments_.first, 31);
    case Mark::warpid: return builder_.CreateLShr(arguments_.first, 5);
    case Mark::thread: return make_threads();
    default: throw std::logic_error("mark has no value: " + std::string(abi::info(mark).symbol));
  }
}

Value* ThreadValues::vector(Mark mark) {
  Value*& cached = vectors_[static_cast<unsigned>(mark)];
  if (cached) return cached;
  SmallVector<Constant*, 32> lanes;
  for (unsigned i = 0; i < width_; ++i) lanes.push_back(builder_.getInt32(i));
  Value* linear = builder_.CreateAdd(builder_.CreateVectorSplat(width_, arguments_.first), ConstantVector::get(lanes));
  Value* nx = builder_.CreateVectorSplat(width_, base(Mark::ntid_x));
  Value* ny = builder_.CreateVectorSplat(width_, base(Mark::ntid_y));
  Value* row = builder_.CreateUDiv(linear, nx);
  vectors_[static_cast<unsigned>(Mark::tid_x)] = builder_.CreateSub(linear, builder_.CreateMul(row, nx));
  Value* slice = builder_.CreateUDiv(row, ny);
  vectors_[static_cast<unsigned>(Mark::tid_y)] = builder_.CreateSub(row, builder_.CreateMul(slice, ny));
  vectors_[static_cast<unsigned>(Mark::tid_z)] = slice;
  return vectors_.lookup(static_cast<unsigned>(mark));
}

StructType* ThreadRecord::type(LLVMContext& context) {
  Type* i32 = Type::getInt32Ty(context);
  Type* pointer = PointerType::getUnqual(context);
  return StructType::get(context, {pointer, i32, i32, i32, i32, i32, pointer});
}

// One record per lane, filled once when the gang starts.
Value* ThreadValues::make_threads() {
  StructType* type = ThreadRecord::type(builder_.getContext());
  AllocaInst* records = builder_.CreateAlloca(type, builder_.getInt32(width_), "threads");
  for (unsigned lane = 0; lane < width_; ++lane) {
    Value* record = builder_.CreateConstInBoundsGEP1_32(type, records, lane);
    const auto put = [&](unsigned field, Value* value) {
      builder_.CreateStore(value, builder_.CreateStructGEP(type, record, field));
    };
    const auto coordinate = [&](Mark mark) -> Value* {
      if (shape_ == abi::BlockShape::general && width_ > 1) return builder_.CreateExtractElement(vector(mark), lane);
      return mark == Mark::tid_x ? builder_.CreateAdd(base(mark), builder_.getInt32(lane)) : base(mark);
    };
    put(ThreadRecord::block, arguments_.block);
    put(ThreadRecord::x, coordinate(Mark::tid_x));
    put(ThreadRecord::y, coordinate(Mark::tid_y));
    put(ThreadRecord::z, coordinate(Mark::tid_z));
    put(ThreadRecord::linear, builder_.CreateAdd(arguments_.first, builder_.getInt32(lane)));
    put(ThreadRecord::exited, builder_.getInt32(0));
    put(ThreadRecord::gang, arguments_.gang);
  }
  return records;
}

Value* gang_in_called_function(IRBuilder<>& builder, Value* thread) {
  StructType* type = ThreadRecord::type(builder.getContext());
  return builder.CreateLoad(builder.getPtrTy(), builder.CreateStructGEP(type, thread, ThreadRecord::gang));
}

Value* query_in_called_function(IRBuilder<>& builder, Value* thread, Mark mark) {
  StructType* type = ThreadRecord::type(builder.getContext());
  const auto field = [&](ThreadRecord::Field f) {
    return builder.CreateLoad(type->getElementType(f), builder.CreateStructGEP(type, thread, f));
  };
  if (const auto in_block = block_field_of(mark))
    return load_block_field(builder, field(ThreadRecord::block), in_block->offset, type_of(builder, in_block->type));
  switch (mark) {
    case Mark::tid_x: return field(ThreadRecord::x);
    case Mark::tid_y: return field(ThreadRecord::y);
    case Mark::tid_z: return field(ThreadRecord::z);
    case Mark::laneid: return builder.CreateAnd(field(ThreadRecord::linear), 31);
    case Mark::warpid: return builder.CreateLShr(field(ThreadRecord::linear), 5);
    case Mark::thread: return thread;
    default: throw std::logic_error("mark has no value: " + std::string(abi::info(mark).symbol));
  }
}

Value* read_clock(IRBuilder<>& builder, Mark mark) {
  Module* module = builder.GetInsertBlock()->getModule();
  const char* name = mark == Mark::clock64 ? "softgpu_rt_cycles" : "softgpu_rt_nanoseconds";
  return builder.CreateCall(module->getOrInsertFunction(name, builder.getInt64Ty()));
}

}  // namespace softgpu::simt
