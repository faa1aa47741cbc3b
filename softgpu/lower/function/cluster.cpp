#include "softgpu/lower/function/cluster.hpp"

#include "softgpu/abi/kernel.hpp"

namespace softgpu::lower {
namespace {

using abi::Mark;
using llvm::Value;
using ptx::SpecialRegister;

constexpr std::uint64_t kStride = std::uint64_t{1} << abi::kClusterStrideBits;

constexpr Mark kBlockIndex[] = {Mark::ctaid_x, Mark::ctaid_y, Mark::ctaid_z};
constexpr Mark kGridSize[] = {Mark::nctaid_x, Mark::nctaid_y, Mark::nctaid_z};
constexpr Mark kClusterSize[] = {Mark::cluster_nctaid_x, Mark::cluster_nctaid_y, Mark::cluster_nctaid_z};

Value* index_in_cluster(FunctionLowering& f, std::size_t axis) {
  return f.ir.CreateURem(f.call(kBlockIndex[axis]), f.call(kClusterSize[axis]));
}

Value* rank(FunctionLowering& f) {
  Builder& ir = f.ir;
  Value* row = ir.CreateAdd(ir.CreateMul(index_in_cluster(f, 2), f.call(kClusterSize[1])), index_in_cluster(f, 1));
  return ir.CreateAdd(ir.CreateMul(row, f.call(kClusterSize[0])), index_in_cluster(f, 0));
}

Value* blocks(FunctionLowering& f) {
  return f.ir.CreateMul(f.ir.CreateMul(f.call(kClusterSize[0]), f.call(kClusterSize[1])), f.call(kClusterSize[2]));
}

// The distance, in bytes, of a rank's shared memory from that of rank 0.
Value* distance(FunctionLowering& f, Value* of_rank) {
  return f.ir.CreateShl(f.ir.CreateZExt(of_rank, f.ir.getInt64Ty()), abi::kClusterStrideBits);
}

// The shared memory of rank 0, as a number.
Value* cluster_base(FunctionLowering& f) {
  return f.ir.CreateSub(f.ir.CreatePtrToInt(f.shared_base(), f.ir.getInt64Ty()), distance(f, rank(f)));
}

Value* offset_in_block(FunctionLowering& f, Value* address) { return f.ir.CreateAnd(address, kStride - 1); }

}  // namespace

Value* cluster_register(FunctionLowering& f, SpecialRegister which) {
  using S = SpecialRegister;
  const auto axis_from = [which](S x) { return static_cast<std::size_t>(which) - static_cast<std::size_t>(x); };
  if (which == S::cluster_ctarank) return rank(f);
  if (which == S::cluster_nctarank) return blocks(f);
  if (which >= S::cluster_nctaid_x) return f.call(kClusterSize[axis_from(S::cluster_nctaid_x)]);
  if (which >= S::cluster_ctaid_x) return index_in_cluster(f, axis_from(S::cluster_ctaid_x));
  const bool of_grid = which >= S::nclusterid_x;
  const std::size_t axis = axis_from(of_grid ? S::nclusterid_x : S::clusterid_x);
  return f.ir.CreateUDiv(f.call(of_grid ? kGridSize[axis] : kBlockIndex[axis]), f.call(kClusterSize[axis]));
}

Value* cluster_pointer(FunctionLowering& f, Value* address) {
  Builder& ir = f.ir;
  Value* own = ir.CreateICmpULT(address, ir.getInt64(kStride));
  Value* to_named = ir.CreateSub(ir.getInt64(0), ir.CreateAdd(distance(f, rank(f)), ir.getInt64(kStride)));
  Value* offset = ir.CreateAdd(address, ir.CreateSelect(own, ir.getInt64(0), to_named));
  return ir.CreateGEP(ir.getInt8Ty(), f.shared_base(), offset);
}

Value* cluster_address(FunctionLowering& f, Value* generic) {
  return f.ir.CreateAdd(f.ir.CreateSub(generic, cluster_base(f)), f.ir.getInt64(kStride));
}

Value* is_in_cluster(FunctionLowering& f, Value* generic) {
  Builder& ir = f.ir;
  Value* from_base = ir.CreateSub(generic, cluster_base(f));
  Value* size = ir.CreateZExt(f.call(Mark::total_smem_size), ir.getInt64Ty());
  return ir.CreateAnd(ir.CreateICmpULT(from_base, distance(f, blocks(f))),
                      ir.CreateICmpULT(offset_in_block(f, from_base), size));
}

Value* mapped_to_rank(FunctionLowering& f, Value* address, Value* of_rank, bool is_generic) {
  Builder& ir = f.ir;
  Value* base = is_generic ? cluster_base(f) : ir.getInt64(kStride);
  Value* from_base = is_generic ? ir.CreateSub(address, base) : address;
  return ir.CreateAdd(ir.CreateAdd(base, distance(f, of_rank)), offset_in_block(f, from_base));
}

Value* rank_of_address(FunctionLowering& f, Value* address) {
  Builder& ir = f.ir;
  Value* named = ir.CreateTrunc(ir.CreateLShr(address, abi::kClusterStrideBits), ir.getInt32Ty());
  return ir.CreateSelect(ir.CreateIsNull(named), rank(f), ir.CreateSub(named, ir.getInt32(1)));
}

}  // namespace softgpu::lower
