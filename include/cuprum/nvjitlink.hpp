// Raw nvJitLink, NVIDIA's linker at run time: the table of its functions, and checked calls through it.
//
//   using namespace cuprum;
//   nvjitlink::Handle linker = nullptr;
//   const char* options[] = {"-arch=sm_90", "-lto"};
//   nvjitlink::call<&nvjitlink::Api::nvJitLinkCreate>(&linker, 2u, options);
//
// It is found and opened at the first use (docs/guide/finding-cuda.md), first where NVRTC was found: LTO-IR is for the
// linker of its own release. The library exports its functions under names with a version, such as
// __nvJitLinkCreate_12_4; the table takes whichever there is. This header needs none of NVIDIA's; handles are of the
// same type as those of <nvJitLink.h>. Threads may share everything here, but not one handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/library_api.hpp>
#include <cuprum/error.hpp>

struct nvJitLink;

/// nvJitLink's C interface.
namespace cuprum::inline CUPRUM_ABI::nvjitlink {

/// nvJitLinkHandle: from nvJitLinkCreate until nvJitLinkDestroy.
using Handle = ::nvJitLink*;

/// nvJitLink's codes: nvJitLinkResult.
enum class Result : int {
  success = 0,                ///< it worked
  unrecognized_option = 1,    ///< there is no such option
  missing_arch = 2,           ///< -arch is needed
  invalid_input = 3,          ///< an argument or an input is wrong
  ptx_compile = 4,            ///< PTX could not be compiled; the error log says why
  nvvm_compile = 5,           ///< LTO-IR could not be compiled; the error log says why
  internal = 6,               ///< an error of nvJitLink, or one that only the error log tells apart
  threadpool = 7,             ///< the threads for -split-compile could not be had
  unrecognized_input = 8,     ///< the input is of no known kind
  finalize = 9,               ///< the last step, to machine code, failed
  null_input = 10,            ///< the input is a null pointer
  incompatible_options = 11,  ///< two options contradict each other
  incorrect_input_type = 12,  ///< the input is not of the type that was said
  arch_mismatch = 13,         ///< the input is for another architecture
  outdated_library = 14,      ///< this nvJitLink is too old for the input
  missing_fatbin = 15,        ///< the input has no device code in it
  unrecognized_arch = 16,     ///< -arch names no architecture
  unsupported_arch = 17,      ///< -arch names one that this nvJitLink can't make code for
  lto_not_enabled = 18,       ///< LTO-IR needs -lto
};

/// What an input is: nvJitLinkInputType.
enum class InputType : int {
  none = 0,     ///< what nvJitLink calls an error
  cubin = 1,    ///< machine code
  ptx = 2,      ///< PTX
  ltoir = 3,    ///< LTO-IR
  fatbin = 4,   ///< code for several architectures in one
  object = 5,   ///< an object of the host's compiler with device code in it
  library = 6,  ///< an archive of such objects
  index = 7,    ///< an index file
  any = 10,     ///< nvJitLink finds out
};

namespace detail {
enum EntryPointIndex : std::size_t {
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) index_of_##name,
#include <cuprum/detail/nvjitlink_entry_points.def>
  entry_point_count
};
}  // namespace detail

/// nvJitLink's functions by their C names.
struct Api {
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) \
  ::cuprum::detail::EntryPoint<detail::index_of_##name, result(*) parameters> name;
#include <cuprum/detail/nvjitlink_entry_points.def>
};

/// The table. Throws NotSupported when there is no nvJitLink, each time anew: it may be installed meanwhile.
CUPRUM_API const Api& api();

/// Makes the library call through `table` instead, and returns the table used so far: for tracing, and for tests that
/// make calls fail. `table` must stay alive, and no other thread may be calling the library meanwhile.
CUPRUM_API const Api& replace_api(const Api& table);

/// The nvJitLink that api() has the functions of. Throws as that does.
CUPRUM_API const LibraryInfo& info();

/// Calls an entry point and returns its code. Throws NotSupported when this nvJitLink doesn't have it.
template <auto Entry, typename... Arguments>
auto try_call(Arguments... arguments) {
  return ::cuprum::detail::try_call_library<::cuprum::detail::Library::nvjitlink>(api().*Entry, arguments...);
}

/// Calls an entry point; throws LibraryError with nvJitLink's own words when it fails.
template <auto Entry, typename... Arguments>
void call(Arguments... arguments) {
  ::cuprum::detail::call_library<::cuprum::detail::Library::nvjitlink>(api().*Entry, arguments...);
}

}  // namespace cuprum::inline CUPRUM_ABI::nvjitlink
