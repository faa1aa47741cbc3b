// Raw NVRTC, NVIDIA's compiler for CUDA C++ at run time: the table of its functions, and checked calls through it.
//
//   using namespace cuprum;
//   nvrtc::Program program = nullptr;
//   nvrtc::call<&nvrtc::Api::nvrtcCreateProgram>(&program, source, "saxpy.cu", 0, nullptr, nullptr);
//   nvrtc::Result result = nvrtc::try_call<&nvrtc::Api::nvrtcCompileProgram>(program, 0, nullptr);
//
// It is found and opened at the first use (docs/guide/finding-cuda.md). This header needs none of NVIDIA's; handles are
// of the same type as those of <nvrtc.h>. Threads may share everything here.
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/library_api.hpp>
#include <cuprum/error.hpp>
#include <string>
#include <vector>

struct _nvrtcProgram;

/// NVRTC's C interface.
namespace cuprum::inline CUPRUM_ABI::nvrtc {

/// nvrtcProgram: from nvrtcCreateProgram until nvrtcDestroyProgram.
using Program = ::_nvrtcProgram*;

/// NVRTC's codes: nvrtcResult.
enum class Result : int {
  success = 0,                                ///< it worked
  out_of_memory = 1,                          ///< of the host
  program_creation_failure = 2,               ///< nvrtcCreateProgram could not do it
  invalid_input = 3,                          ///< an argument of the call is wrong
  invalid_program = 4,                        ///< what was passed is no program
  invalid_option = 5,                         ///< an option is unknown, or its value is wrong
  compilation = 6,                            ///< the source has errors, which the log lists
  builtin_operation_failure = 7,              ///< mostly that the builtins library (see Info) can't be opened
  no_name_expressions_after_compilation = 8,  ///< nvrtcAddNameExpression came too late
  no_lowered_names_before_compilation = 9,    ///< nvrtcGetLoweredName came too early
  name_expression_not_valid = 10,             ///< the name was not added before
  internal_error = 11,                        ///< of NVRTC
  time_file_write_failed = 12,                ///< the file of --time could not be written
  no_pch_create_attempted = 13,               ///< no precompiled header was to be made
  pch_create_heap_exhausted = 14,             ///< nvrtcSetPCHHeapSize with more helps
  pch_create = 15,                            ///< the precompiled header could not be made
  cancelled = 16,                             ///< by the callback that was set for that
  time_trace_file_write_failed = 17,          ///< the file of --fdevice-time-trace could not be written
};

namespace detail {
enum EntryPointIndex : std::size_t {
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) index_of_##name,
#include <cuprum/detail/nvrtc_entry_points.def>
  entry_point_count
};
}  // namespace detail

/// NVRTC's functions by their C names.
struct Api {
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) \
  ::cuprum::detail::EntryPoint<detail::index_of_##name, result(*) parameters> name;
#include <cuprum/detail/nvrtc_entry_points.def>
};

/// The table. Throws NotSupported when there is no NVRTC, each time anew: it may be installed meanwhile.
CUPRUM_API const Api& api();

/// Makes the library call through `table` instead, and returns the table used so far: for tracing, and for tests that
/// make calls fail. `table` must stay alive, and no other thread may be calling the library meanwhile.
CUPRUM_API const Api& replace_api(const Api& table);

/// NVRTC and what belongs to it: all of one release and from one place.
struct Info : LibraryInfo {
  std::string builtins;                     ///< the library that NVRTC itself opens
  std::vector<std::string> header_folders;  ///< of CUDA's headers, for the include path; empty when it came without
  std::vector<std::string> remarks;         ///< why there are no headers
};
/// The NVRTC that api() has the functions of. Throws as that does.
CUPRUM_API const Info& info();

/// Calls an entry point and returns its code. Throws NotSupported when this NVRTC doesn't have it.
template <auto Entry, typename... Arguments>
auto try_call(Arguments... arguments) {
  return ::cuprum::detail::try_call_library<::cuprum::detail::Library::nvrtc>(api().*Entry, arguments...);
}

/// Calls an entry point; throws LibraryError with NVRTC's own words when it fails.
template <auto Entry, typename... Arguments>
void call(Arguments... arguments) {
  ::cuprum::detail::call_library<::cuprum::detail::Library::nvrtc>(api().*Entry, arguments...);
}

}  // namespace cuprum::inline CUPRUM_ABI::nvrtc
