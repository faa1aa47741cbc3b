// One function for each opcode, by family. Each builds the code of one instruction at f.ir.
#pragma once

#include "softgpu/lower/function/function_lowering.hpp"

namespace softgpu::lower {

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

const Row& row_of(ptx::Opcode);

#define SOFTGPU_HANDLER(name) void name(FunctionLowering&, const ptx::Instruction&);
// integer.cpp: those of add … max also take floats, and hand them on to float.cpp
SOFTGPU_HANDLER(lower_add)
SOFTGPU_HANDLER(lower_sub)
SOFTGPU_HANDLER(lower_mul)
SOFTGPU_HANDLER(lower_mad)
SOFTGPU_HANDLER(lower_mul24)
SOFTGPU_HANDLER(lower_mad24)
SOFTGPU_HANDLER(lower_sad)
SOFTGPU_HANDLER(lower_abs)
SOFTGPU_HANDLER(lower_neg)
SOFTGPU_HANDLER(lower_min)
SOFTGPU_HANDLER(lower_max)
SOFTGPU_HANDLER(lower_dp4a)
SOFTGPU_HANDLER(lower_dp2a)
// division.cpp
SOFTGPU_HANDLER(lower_div)
SOFTGPU_HANDLER(lower_rem)
// carry.cpp
SOFTGPU_HANDLER(lower_addc)
SOFTGPU_HANDLER(lower_subc)
SOFTGPU_HANDLER(lower_madc)
// bits.cpp, bit_fields.cpp
SOFTGPU_HANDLER(lower_and)
SOFTGPU_HANDLER(lower_or)
SOFTGPU_HANDLER(lower_xor)
SOFTGPU_HANDLER(lower_not)
SOFTGPU_HANDLER(lower_cnot)
SOFTGPU_HANDLER(lower_lop3)
SOFTGPU_HANDLER(lower_shl)
SOFTGPU_HANDLER(lower_shr)
SOFTGPU_HANDLER(lower_shf)
SOFTGPU_HANDLER(lower_popc)
SOFTGPU_HANDLER(lower_clz)
SOFTGPU_HANDLER(lower_bfind)
SOFTGPU_HANDLER(lower_fns)
SOFTGPU_HANDLER(lower_brev)
SOFTGPU_HANDLER(lower_bfe)
SOFTGPU_HANDLER(lower_bfi)
SOFTGPU_HANDLER(lower_bmsk)
SOFTGPU_HANDLER(lower_szext)
SOFTGPU_HANDLER(lower_prmt)
// compare.cpp
SOFTGPU_HANDLER(lower_setp)
SOFTGPU_HANDLER(lower_set)
SOFTGPU_HANDLER(lower_selp)
SOFTGPU_HANDLER(lower_slct)
// float.cpp
SOFTGPU_HANDLER(lower_float_add)
SOFTGPU_HANDLER(lower_float_sub)
SOFTGPU_HANDLER(lower_float_mul)
SOFTGPU_HANDLER(lower_fma)
SOFTGPU_HANDLER(lower_float_div)
SOFTGPU_HANDLER(lower_rcp)
SOFTGPU_HANDLER(lower_sqrt)
SOFTGPU_HANDLER(lower_float_abs)
SOFTGPU_HANDLER(lower_float_neg)
SOFTGPU_HANDLER(lower_float_min)
SOFTGPU_HANDLER(lower_float_max)
SOFTGPU_HANDLER(lower_copysign)
SOFTGPU_HANDLER(lower_testp)
// approximations.cpp
SOFTGPU_HANDLER(lower_rsqrt)
SOFTGPU_HANDLER(lower_sin)
SOFTGPU_HANDLER(lower_cos)
SOFTGPU_HANDLER(lower_lg2)
SOFTGPU_HANDLER(lower_ex2)
SOFTGPU_HANDLER(lower_tanh)
// convert.cpp
SOFTGPU_HANDLER(lower_cvt)
// move.cpp
SOFTGPU_HANDLER(lower_mov)
SOFTGPU_HANDLER(lower_cvta)
SOFTGPU_HANDLER(lower_isspacep)
// memory.cpp
SOFTGPU_HANDLER(lower_ld)
SOFTGPU_HANDLER(lower_st)
SOFTGPU_HANDLER(lower_fence)
SOFTGPU_HANDLER(lower_membar)
// atomic.cpp
SOFTGPU_HANDLER(lower_atom)
SOFTGPU_HANDLER(lower_red)
// texture.cpp
SOFTGPU_HANDLER(lower_tex)
SOFTGPU_HANDLER(lower_tld4)
SOFTGPU_HANDLER(lower_txq)
SOFTGPU_HANDLER(lower_suld)
SOFTGPU_HANDLER(lower_sust)
SOFTGPU_HANDLER(lower_suq)
// control.cpp
SOFTGPU_HANDLER(lower_bra)
SOFTGPU_HANDLER(lower_brx)
SOFTGPU_HANDLER(lower_ret)
SOFTGPU_HANDLER(lower_exit)
SOFTGPU_HANDLER(lower_trap)
SOFTGPU_HANDLER(lower_nanosleep)
SOFTGPU_HANDLER(lower_nothing)
// mbarrier.cpp
SOFTGPU_HANDLER(lower_mbarrier)
SOFTGPU_HANDLER(lower_cp)
// cluster.cpp
SOFTGPU_HANDLER(lower_mapa)
SOFTGPU_HANDLER(lower_getctarank)
// call.cpp
SOFTGPU_HANDLER(lower_call)
// barrier.cpp
SOFTGPU_HANDLER(lower_barrier)
// warp.cpp
SOFTGPU_HANDLER(lower_shfl)
SOFTGPU_HANDLER(lower_vote)
SOFTGPU_HANDLER(lower_match)
SOFTGPU_HANDLER(lower_activemask)
SOFTGPU_HANDLER(lower_redux)
SOFTGPU_HANDLER(lower_elect)
#undef SOFTGPU_HANDLER

}  // namespace softgpu::lower
