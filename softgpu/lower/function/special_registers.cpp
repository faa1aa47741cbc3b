#include "softgpu/lower/function/special_registers.hpp"

#include "softgpu/lower/function/cluster.hpp"
#include "softgpu/lower/module/shared_layout.hpp"

namespace softgpu::lower {
namespace {

using abi::Mark;
using ptx::SpecialRegister;

// PTX promises only that %smid is below %nsmid; the number of workers is far below this.
constexpr std::uint32_t kMultiprocessorNumbers = 1024;
constexpr std::uint32_t kWarpNumbers = 64;  // of a multiprocessor, as in compute capability 9.0

llvm::Value* upper_32_bits(FunctionLowering& f, llvm::Value* wide) { return f.ir.CreateLShr(wide, 32); }

llvm::Value* lane_mask(FunctionLowering& f, SpecialRegister which) {
  Builder& ir = f.ir;
  llvm::Value* own = ir.CreateShl(ir.getInt32(1), f.call(Mark::laneid));
  llvm::Value* below = ir.CreateSub(own, ir.getInt32(1));
  switch (which) {
    case SpecialRegister::lanemask_eq: return own;
    case SpecialRegister::lanemask_lt: return below;
    case SpecialRegister::lanemask_le: return ir.CreateOr(below, own);
    case SpecialRegister::lanemask_ge: return ir.CreateNot(below);
    default: return ir.CreateNot(ir.CreateOr(below, own));
  }
}

}  // namespace

llvm::Value* special_register(FunctionLowering& f, SpecialRegister which) {
  using S = SpecialRegister;
  switch (which) {
    case S::tid_x: return f.call(Mark::tid_x);
    case S::tid_y: return f.call(Mark::tid_y);
    case S::tid_z: return f.call(Mark::tid_z);
    case S::ntid_x: return f.call(Mark::ntid_x);
    case S::ntid_y: return f.call(Mark::ntid_y);
    case S::ntid_z: return f.call(Mark::ntid_z);
    case S::ctaid_x: return f.call(Mark::ctaid_x);
    case S::ctaid_y: return f.call(Mark::ctaid_y);
    case S::ctaid_z: return f.call(Mark::ctaid_z);
    case S::nctaid_x: return f.call(Mark::nctaid_x);
    case S::nctaid_y: return f.call(Mark::nctaid_y);
    case S::nctaid_z: return f.call(Mark::nctaid_z);
    case S::clusterid_x:
    case S::clusterid_y:
    case S::clusterid_z:
    case S::nclusterid_x:
    case S::nclusterid_y:
    case S::nclusterid_z:
    case S::cluster_ctaid_x:
    case S::cluster_ctaid_y:
    case S::cluster_ctaid_z:
    case S::cluster_nctaid_x:
    case S::cluster_nctaid_y:
    case S::cluster_nctaid_z:
    case S::cluster_ctarank:
    case S::cluster_nctarank: return cluster_register(f, which);
    case S::is_explicit_cluster: return f.call(Mark::is_explicit_cluster);
    case S::laneid: return f.call(Mark::laneid);
    case S::warpid: return f.call(Mark::warpid);
    case S::nwarpid: return f.ir.getInt32(kWarpNumbers);
    case S::smid: return f.call(Mark::smid);
    case S::nsmid: return f.ir.getInt32(kMultiprocessorNumbers);
    case S::gridid: return f.call(Mark::gridid);
    case S::envreg1: return f.ir.CreateTrunc(upper_32_bits(f, f.call(Mark::workspace)), f.ir.getInt32Ty());
    case S::envreg2: return f.ir.CreateTrunc(f.call(Mark::workspace), f.ir.getInt32Ty());
    case S::lanemask_eq:
    case S::lanemask_le:
    case S::lanemask_lt:
    case S::lanemask_ge:
    case S::lanemask_gt: return lane_mask(f, which);
    case S::clock: return f.ir.CreateTrunc(f.call(Mark::clock64), f.ir.getInt32Ty());
    case S::clock_hi: return upper_32_bits(f, f.call(Mark::clock64));
    case S::clock64: return f.call(Mark::clock64);
    case S::globaltimer: return f.call(Mark::globaltimer);
    case S::globaltimer_lo: return f.ir.CreateTrunc(f.call(Mark::globaltimer), f.ir.getInt32Ty());
    case S::globaltimer_hi: return upper_32_bits(f, f.call(Mark::globaltimer));
    case S::total_smem_size:
    case S::aggr_smem_size:
      return f.ir.CreateSub(f.call(Mark::total_smem_size), f.ir.getInt32(f.module.reserved_shared_bytes()));
    case S::dynamic_smem_size: return f.call(Mark::dynamic_smem_size);
    case S::reserved_smem_offset_begin:
    case S::reserved_smem_offset_0:
    case S::reserved_smem_offset_1: return f.ir.getInt32(0);
    case S::reserved_smem_offset_end: return f.ir.getInt32(ReservedShared::kUsedBytes);
    case S::reserved_smem_offset_cap: return f.ir.getInt32(ReservedShared::kBytes);
    case S::current_graph_exec: return f.ir.CreateCall(f.module.runtime_call(RuntimeCall::current_graph));
    case S::warp_size: return f.ir.getInt32(32);
  }
  llvm_unreachable("every special register has a row");
}

}  // namespace softgpu::lower
