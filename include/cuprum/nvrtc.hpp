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

namespace cuprum::inline CUPRUM_ABI::nvrtc {

using Program = ::_nvrtcProgram*;

enum class Result : int {
  success = 0,
  out_of_memory = 1,
  program_creation_failure = 2,
  invalid_input = 3,
  invalid_program = 4,
  invalid_option = 5,
  compilation = 6,
  builtin_operation_failure = 7,
  no_name_expressions_after_compilation = 8,
  no_lowered_names_before_compilation = 9,
  name_expression_not_valid = 10,
  internal_error = 11,
  time_file_write_failed = 12,
  no_pch_create_attempted = 13,
  pch_create_heap_exhausted = 14,
  pch_create = 15,
  cancelled = 16,
  time_trace_file_write_failed = 17,
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

/// NVRTC and what belongs to it: all of one release and from one place.
struct Info : LibraryInfo {
  std::string builtins;                     ///< the library that NVRTC itself opens
  std::vector<std::string> header_folders;  ///< of CUDA's headers, for the include path; empty when it came without
  std::vector<std::string> remarks;         ///< why there are no headers
};
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
