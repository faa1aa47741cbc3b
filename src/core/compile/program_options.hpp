#pragma once

#include <cuprum/linker.hpp>
#include <cuprum/program.hpp>
#include <string>
#include <vector>

namespace cuprum::core {

/// The architecture to compile for: options.arch or the default, as the target needs it. Machine code is made for a
/// real architecture (sm_90); PTX alone is for a virtual one (compute_90), which spares the compiler the machine code.
std::string architecture(const ProgramOptions& options, CompilerBackendType backend, Target target);

/// The options of a program of PTX, which the linker compiles, as the linker's. Those that it doesn't have are left
/// out, as cuda.core does.
LinkerOptions linker_options(const ProgramOptions& options);

/// The linker that compiles it.
CompilerBackendType linker_of(const ProgramOptions& options);

/// The options as the linker reads them. Throws InvalidArgument for extra sources.
std::vector<std::string> linker_arguments(const ProgramOptions& options, CompilerBackendType linker);

/// What messages call them.
const char* title(SourceCodeType type);
const char* title(CompilerBackendType backend);

}  // namespace cuprum::core
