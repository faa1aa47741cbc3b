#pragma once

#include <cuprum/program.hpp>

#include "core/code/object_code_resource.hpp"
#include "core/compile/program_resource.hpp"

namespace cuprum::core {

/// The precompiled header of a program of CUDA C++. Throws CompileError when there is nothing to precompile, or NVRTC
/// couldn't.
detail::Code make_precompiled_header(detail::ProgramResource& program, const CompileOptions& options);

}  // namespace cuprum::core
