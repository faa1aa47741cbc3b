#pragma once

#include <string>
#include <vector>

#include "core/program_resource.hpp"

namespace cuprum::core {

struct PtxResult {
  std::string cubin;
  std::string log;
};

/// PTX to machine code through nvJitLink. Throws CompileError with its log.
PtxResult compile_ptx(const detail::ProgramResource& program, const std::vector<std::string>& arguments);

}  // namespace cuprum::core
