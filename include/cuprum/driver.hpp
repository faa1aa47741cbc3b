// The raw CUDA driver API: the table of entry points that the library itself uses, and checked calls through it.
//
//   using namespace cuprum;
//   size_t free = 0, total = 0;
//   driver::call<&driver::Api::cuMemGetInfo>(&free, &total);     // throws DriverError when it fails
//   CUresult state = driver::api().cuStreamQuery(stream.handle());  // as in C
//
// This is the one public header that needs NVIDIA's <cuda.h> and <cudaTypedefs.h> (CUDA 13.0 or newer) to compile.
#pragma once

#if !__has_include(<cudaTypedefs.h>)
  #error \
      "<cuprum/driver.hpp> needs NVIDIA's <cuda.h> and <cudaTypedefs.h>: add the include folder of a CUDA toolkit or of the PyPI package nvidia-cuda-runtime; the rest of the library does without"
#endif
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  #error \
      "<cuprum/driver.hpp> has the entry points for the legacy default stream: instead of defining CUDA_API_PER_THREAD_DEFAULT_STREAM, pass CU_STREAM_PER_THREAD where a stream is expected"
#endif

#include <cudaTypedefs.h>

#include <atomic>
#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/library_api.hpp>
#include <cuprum/driver_choice.hpp>
#include <cuprum/error.hpp>
#include <string>
#include <utility>

#if CUDA_VERSION < 13010  // newer than the oldest headers that will do
struct CU_DEV_SM_RESOURCE_GROUP_PARAMS_st;
using PFN_cuDevSmResourceSplit_v13010 = CUresult(CUDAAPI*)(CUdevResource*, unsigned, const CUdevResource*,
                                                           CUdevResource*, unsigned,
                                                           CU_DEV_SM_RESOURCE_GROUP_PARAMS_st*);
using PFN_cuStreamGetDevResource_v13010 = CUresult(CUDAAPI*)(CUstream, CUdevResource*, CUdevResourceType);
#endif
#if CUDA_VERSION < 13020
using PFN_cuMemcpyWithAttributesAsync_v13020 = CUresult(CUDAAPI*)(CUdeviceptr, CUdeviceptr, size_t, CUmemcpyAttributes*,
                                                                  CUstream);
#endif

// As <cudaGLTypedefs.h> has them, which needs OpenGL's headers: GLuint and GLenum are unsigned.
using PFN_cuGraphicsGLRegisterBuffer_v3000 = CUresult(CUDAAPI*)(CUgraphicsResource*, unsigned, unsigned);
using PFN_cuGraphicsGLRegisterImage_v3000 = CUresult(CUDAAPI*)(CUgraphicsResource*, unsigned, unsigned, unsigned);

namespace cuprum::inline CUPRUM_ABI::driver {

namespace detail {
enum EntryPointIndex : std::size_t {
#define CUPRUM_DRIVER_ENTRY_POINT(name, version) index_of_##name,
#include <cuprum/detail/driver_entry_points.def>
  entry_point_count
};
}  // namespace detail

/// One slot of the table: calls like the C function; null when the driver is too old to have it.
using ::cuprum::detail::EntryPoint;

/// The driver's functions by their names in <cuda.h>, each with the prototype of one fixed version.
struct Api {
#define CUPRUM_DRIVER_ENTRY_POINT(name, version) EntryPoint<detail::index_of_##name, PFN_##name##_v##version> name;
#include <cuprum/detail/driver_entry_points.def>
};

namespace detail {
CUPRUM_API extern std::atomic<const Api*> installed_api;
CUPRUM_API const Api& load_api();
[[noreturn]] CUPRUM_API void raise(CUresult code, std::size_t entry_point, const std::string& doing);
[[noreturn]] CUPRUM_API void raise_missing(std::size_t entry_point, const std::string& doing);
}  // namespace detail

/// The table. The first call chooses, opens and initialises a driver; threads may race for it. Throws NotSupported
/// when there is no driver, and in a child that was forked after the parent had initialised one: CUDA can't be used
/// there.
inline const Api& api() {
  const Api* table = detail::installed_api.load(std::memory_order_acquire);
  return table ? *table : detail::load_api();
}

/// Makes the library call through `table` instead, and returns the table used so far: for tracing, and for tests that
/// make calls fail. `table` must stay alive, and no other thread may be calling the library meanwhile.
CUPRUM_API const Api& replace_api(const Api& table);

/// What a slot of the table is for.
struct EntryPointInfo {
  const char* name;  ///< in <cuda.h>, without its version: "cuMemAlloc"
  int version;       ///< the CUDA version of its prototype: 3020 for 3.2
};
/// Of the slot with this number, which the slot's type has as a constant.
CUPRUM_API EntryPointInfo entry_point_info(std::size_t index);

/// First argument of `call`: says what is being done, for the text of the error. Asked only when the call fails.
///
///   driver::call<&driver::Api::cuStreamSynchronize>(driver::Doing{[&] { return "waiting for the upload"; }}, stream);
template <typename Describe>
struct Doing {
  Describe describe;  ///< called without arguments; returns what a std::string can be made of
};
/// So that Doing{[&] { … }} needs no type.
template <typename Describe>
Doing(Describe) -> Doing<Describe>;

/// Calls an entry point and returns its code. Throws NotSupported when the driver doesn't have it.
template <auto Entry, typename... Arguments>
CUresult try_call(Arguments... arguments) {
  const auto& entry = api().*Entry;
  if (!entry.function) [[unlikely]]
    detail::raise_missing(entry.index, {});
  return entry.function(arguments...);
}

/// Calls an entry point; throws OutOfMemory, NotSupported or DriverError when it fails.
template <auto Entry, typename Describe, typename... Arguments>
void call(Doing<Describe> doing, Arguments... arguments) {
  const auto& entry = api().*Entry;
  if (!entry.function) [[unlikely]]
    detail::raise_missing(entry.index, doing.describe());
  if (CUresult code = entry.function(arguments...); code != CUDA_SUCCESS) [[unlikely]]
    detail::raise(code, entry.index, doing.describe());
}

/// The same without a word on what is being done: the text of the error has the call alone.
template <auto Entry, typename... Arguments>
void call(Arguments... arguments) {
  call<Entry>(Doing{[] { return std::string(); }}, arguments...);
}

}  // namespace cuprum::inline CUPRUM_ABI::driver
