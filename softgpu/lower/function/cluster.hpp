// Clusters: which block of which cluster this is, and where the shared memories of its blocks are.
//
// A block's own shared-space addresses are offsets from its shared memory. Those of the cluster's space are the same
// below 1 << kClusterStrideBits; above it they name a block: ((rank + 1) << kClusterStrideBits) + offset, so that they
// mean the same to every block of the cluster. In the host's memory the blocks' shared memories lie at that distance,
// too.
#pragma once

#include "softgpu/lower/function/function_lowering.hpp"

namespace softgpu::lower {

// %clusterid, %nclusterid, %cluster_ctaid, %cluster_nctaid, %cluster_ctarank, %cluster_nctarank
llvm::Value* cluster_register(FunctionLowering&, ptx::SpecialRegister);

// The pointer to a 64-bit address of the space .shared::cluster.
llvm::Value* cluster_pointer(FunctionLowering&, llvm::Value* address);
// The address in .shared::cluster, 64 bits wide, of a generic address in the shared memory of one of the cluster's
// blocks.
llvm::Value* cluster_address(FunctionLowering&, llvm::Value* generic);
// i1: whether a generic address is in the shared memory of one of the cluster's blocks.
llvm::Value* is_in_cluster(FunctionLowering&, llvm::Value* generic);

// The address of the same place in the shared memory of another block; both are of that space or both generic.
llvm::Value* mapped_to_rank(FunctionLowering&, llvm::Value* address, llvm::Value* rank, bool is_generic);
// The rank of the block in whose shared memory an address of .shared::cluster is.
llvm::Value* rank_of_address(FunctionLowering&, llvm::Value* address);

}  // namespace softgpu::lower
