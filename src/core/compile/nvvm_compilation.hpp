#pragma once

#include <string>
#include <vector>

#include "core/compile/program_resource.hpp"

namespace cuprum::core {

struct NvvmResult {
  std::string code;  ///< PTX or LTO-IR, by the options
  std::string log;
};

/// NVVM IR through libNVVM, with the program's extra modules and libdevice when they are asked for. Throws CompileError
/// with libNVVM's log.
NvvmResult compile_nvvm(const detail::ProgramResource& program, const std::vector<std::string>& arguments);

/// libNVVM's own program, with all modules in it; who holds the pointer keeps it.
std::shared_ptr<void> make_nvvm_program(const detail::ProgramResource& program);

}  // namespace cuprum::core
