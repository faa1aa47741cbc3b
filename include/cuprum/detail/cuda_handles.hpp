// The raw CUDA handles, declared as <cuda.h> declares them, so that programs that only pass them through need none of
// NVIDIA's headers. `CUstream` of <cuda.h> is `CUstream_st*`, and so on.
#pragma once

#include <cstdint>
#include <cuprum/detail/export.hpp>

struct CUarray_st;
struct CUctx_st;
struct CUevent_st;
struct CUfunc_st;
struct CUgraphExec_st;
struct CUgraphNode_st;
struct CUgraph_st;
struct CUgraphicsResource_st;
struct CUkern_st;
struct CUlib_st;
struct CUmemPoolHandle_st;
struct CUmipmappedArray_st;
struct CUmod_st;
struct CUstream_st;

namespace cuprum::inline CUPRUM_ABI {

/// An address in a device's address space: `CUdeviceptr` of <cuda.h>.
using DevicePointer = unsigned long long;

}  // namespace cuprum::inline CUPRUM_ABI
