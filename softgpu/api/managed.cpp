// Advice on managed memory. It is the host's and is where everybody can use it, so there is nothing to move.
#include "softgpu/api/streams.hpp"
#include "softgpu/runtime/memory_operations.hpp"

namespace softgpu::api {
namespace {

// Advice is for managed memory, or for the program's own where devices can use that.
void require_range(CUdeviceptr pointer, std::size_t bytes) {
  require(pointer != 0 && bytes != 0, CUDA_ERROR_INVALID_VALUE, "an empty range");
  const auto extent = Driver::get().allocations().extent(runtime::to_pointer(pointer));
  require(!extent || (extent->kind == memory::Kind::managed && bytes <= extent->bytes), CUDA_ERROR_INVALID_VALUE,
          "not a range of managed memory");
}

void prefetch(CUdeviceptr pointer, std::size_t bytes, CUstream stream, NullStream null) {
  find_stream(stream, null);
  require_range(pointer, bytes);
}

CUresult advise(const char* name, CUdeviceptr pointer, std::size_t bytes, CUmem_advise advice) {
  return call(name, [&] {
    require(advice >= CU_MEM_ADVISE_SET_READ_MOSTLY && advice <= CU_MEM_ADVISE_UNSET_ACCESSED_BY,
            CUDA_ERROR_INVALID_VALUE, "no such advice");
    require_range(pointer, bytes);
  });
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemPrefetchAsync, _ptsz, (CUdeviceptr pointer, size_t bytes, CUdevice, CUstream stream),
                              [&] { prefetch(pointer, bytes, stream, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemPrefetchAsync_v2, _ptsz,
                              (CUdeviceptr pointer, size_t bytes, CUmemLocation, unsigned flags, CUstream stream), [&] {
                                require(flags == 0, CUDA_ERROR_INVALID_VALUE, "flags must be 0");
                                prefetch(pointer, bytes, stream, null_stream);
                              })

CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUdevice) {
  return advise(__func__, pointer, bytes, advice);
}
CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUmemLocation) {
  return advise(__func__, pointer, bytes, advice);
}

}  // extern "C"
