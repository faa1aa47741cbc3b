// What other bindings need of programs.
#pragma once

#include <string>

#include "bindings/common.hpp"

namespace cuprum::python {

/// Of a cuprum._options.ProgramOptions, for a program of that type.
ProgramOptions program_options_from(nb::handle options, SourceCodeType type);

/// CUDAError for options that libNVVM, if it is to compile the program, doesn't have.
void check_options_for(const ProgramOptions& options, SourceCodeType type, Target target);

/// "c++", "ptx" or "nvvm", in upper or lower case; RuntimeError for what else.
SourceCodeType source_type_from(nb::handle given);

/// The text or bitcode of a program of that type; TypeError for what is none.
std::string source_from(nb::handle given, SourceCodeType type);

/// What a program of that type is compiled to; ValueError for what it can't be.
Target compilation_target_from(nb::handle given, SourceCodeType type);

/// Name expressions of a tuple or list of str or bytes. None for what is no C++, as cuda.core has it.
std::vector<std::string> name_expressions_from(nb::handle given, SourceCodeType type);

/// What Linker.which_backend() says, of which the drop-in has a function of its own.
CompilerBackendType linker_in_use();

/// A member of cuprum.typing.CompilerBackendType.
nb::object backend_object(CompilerBackendType backend);

}  // namespace cuprum::python
