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

namespace cuprum::inline CUPRUM_ABI::nvjitlink {

using Handle = ::nvJitLink*;

enum class Result : int {
  success = 0,
  unrecognized_option = 1,
  missing_arch = 2,
  invalid_input = 3,
  ptx_compile = 4,
  nvvm_compile = 5,
  internal = 6,
  threadpool = 7,
  unrecognized_input = 8,
  finalize = 9,
  null_input = 10,
  incompatible_options = 11,
  incorrect_input_type = 12,
  arch_mismatch = 13,
  outdated_library = 14,
  missing_fatbin = 15,
  unrecognized_arch = 16,
  unsupported_arch = 17,
  lto_not_enabled = 18,
};

enum class InputType : int {
  none = 0,
  cubin = 1,
  ptx = 2,
  ltoir = 3,
  fatbin = 4,
  object = 5,
  library = 6,
  index = 7,
  any = 10,
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
