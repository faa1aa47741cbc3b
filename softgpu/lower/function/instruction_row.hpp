// What is known of an opcode: the function that lowers it, and what its guard means.
#pragma once

#include <cstdint>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::lower {

class FunctionLowering;

// What @p does to an instruction.
enum class Guarding : std::uint8_t {
  select,  // it has no effect but its result: done anyway, the destination keeps its value where @p is false
  branch,  // a branch around it
  own,     // it looks at its guard itself
};

using Emit = void (*)(FunctionLowering&, const ptx::Instruction&);

struct Row {
  Emit emit = nullptr;  // null: not supported
  Guarding guarding = Guarding::select;
};

// The table of all of them.
using RowOf = const Row& (*)(ptx::Opcode);

}  // namespace softgpu::lower
