// Raw libNVVM, NVIDIA's compiler for NVVM IR: the table of its functions, and checked calls through it.
//
//   using namespace cuprum;
//   int major, minor, debug_major, debug_minor;
//   nvvm::call<&nvvm::Api::nvvmIRVersion>(&major, &minor, &debug_major, &debug_minor);
//
// It is found and opened at the first use (docs/guide/finding-cuda.md), first where NVRTC was found. This header needs
// none of NVIDIA's; handles are of the same type as those of <nvvm.h>. Threads may share everything here, but not one
// program.
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/library_api.hpp>
#include <cuprum/error.hpp>

struct _nvvmProgram;

/// libNVVM's C interface.
namespace cuprum::inline CUPRUM_ABI::nvvm {

/// nvvmProgram: from nvvmCreateProgram until nvvmDestroyProgram.
using Program = ::_nvvmProgram*;

/// libNVVM's codes: nvvmResult.
enum class Result : int {
  success = 0,                   ///< it worked
  out_of_memory = 1,             ///< of the host
  program_creation_failure = 2,  ///< nvvmCreateProgram could not do it
  ir_version_mismatch = 3,       ///< the module is NVVM IR of another version
  invalid_input = 4,             ///< an argument of the call is wrong
  invalid_program = 5,           ///< what was passed is no program
  invalid_ir = 6,                ///< the module is no valid NVVM IR; the log says why
  invalid_option = 7,            ///< an option is unknown, or its value is wrong
  no_module_in_program = 8,      ///< there is nothing to compile
  compilation = 9,               ///< compiling failed; the log says why
  cancelled = 10,                ///< by the callback that was set for that
};

namespace detail {
enum EntryPointIndex : std::size_t {
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) index_of_##name,
#include <cuprum/detail/nvvm_entry_points.def>
  entry_point_count
};
}  // namespace detail

/// libNVVM's functions by their C names.
struct Api {
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) \
  ::cuprum::detail::EntryPoint<detail::index_of_##name, result(*) parameters> name;
#include <cuprum/detail/nvvm_entry_points.def>
};

/// The table. Throws NotSupported when there is no libNVVM, each time anew: it may be installed meanwhile.
CUPRUM_API const Api& api();

/// Makes the library call through `table` instead, and returns the table used so far: for tracing, and for tests that
/// make calls fail. `table` must stay alive, and no other thread may be calling the library meanwhile.
CUPRUM_API const Api& replace_api(const Api& table);

/// The libNVVM that api() has the functions of; throws as that does. Its version is 0: libNVVM says which IR it takes,
/// not which CUDA it belongs to.
CUPRUM_API const LibraryInfo& info();

/// Calls an entry point and returns its code. Throws NotSupported when this libNVVM doesn't have it.
template <auto Entry, typename... Arguments>
auto try_call(Arguments... arguments) {
  return ::cuprum::detail::try_call_library<::cuprum::detail::Library::nvvm>(api().*Entry, arguments...);
}

/// Calls an entry point; throws LibraryError with libNVVM's own words when it fails.
template <auto Entry, typename... Arguments>
void call(Arguments... arguments) {
  ::cuprum::detail::call_library<::cuprum::detail::Library::nvvm>(api().*Entry, arguments...);
}

}  // namespace cuprum::inline CUPRUM_ABI::nvvm
