#include "softgpu/lower/instructions.hpp"

#include <array>

#include "softgpu/lower/arithmetic/arithmetic.hpp"
#include "softgpu/lower/control/control.hpp"
#include "softgpu/lower/floating_point/floating_point.hpp"
#include "softgpu/lower/memory/memory.hpp"
#include "softgpu/lower/threads/threads.hpp"

namespace softgpu::lower {
namespace {

using ptx::Opcode;

constexpr std::size_t kOpcodes = 0
#define OPCODE(identifier, spelling) +1
#include "softgpu/ptx/opcodes.def"
#undef OPCODE
    ;

struct Entry {
  Opcode opcode;
  Row row;
};

constexpr Guarding select = Guarding::select;
constexpr Guarding branch = Guarding::branch;
constexpr Guarding own = Guarding::own;

constexpr Entry kEntries[] = {
    // Arithmetic
    {Opcode::add, {lower_add, select}},
    {Opcode::sub, {lower_sub, select}},
    {Opcode::mul, {lower_mul, select}},
    {Opcode::mad, {lower_mad, select}},
    {Opcode::mul24, {lower_mul24, select}},
    {Opcode::mad24, {lower_mad24, select}},
    {Opcode::sad, {lower_sad, select}},
    {Opcode::div, {lower_div, select}},
    {Opcode::rem, {lower_rem, select}},
    {Opcode::abs, {lower_abs, select}},
    {Opcode::neg, {lower_neg, select}},
    {Opcode::min, {lower_min, select}},
    {Opcode::max, {lower_max, select}},
    {Opcode::dp4a, {lower_dp4a, select}},
    {Opcode::dp2a, {lower_dp2a, select}},
    {Opcode::vadd2, {lower_vadd2, select}},
    {Opcode::vadd4, {lower_vadd4, select}},
    {Opcode::vsub2, {lower_vsub2, select}},
    {Opcode::vsub4, {lower_vsub4, select}},
    {Opcode::vabsdiff2, {lower_vabsdiff2, select}},
    {Opcode::vabsdiff4, {lower_vabsdiff4, select}},
    {Opcode::vmin2, {lower_vmin2, select}},
    {Opcode::vmin4, {lower_vmin4, select}},
    {Opcode::vmax2, {lower_vmax2, select}},
    {Opcode::vmax4, {lower_vmax4, select}},
    {Opcode::vavrg2, {lower_vavrg2, select}},
    {Opcode::vavrg4, {lower_vavrg4, select}},
    {Opcode::addc, {lower_addc, select}},
    {Opcode::subc, {lower_subc, select}},
    {Opcode::madc, {lower_madc, select}},
    // Bits
    {Opcode::and_, {lower_and, select}},
    {Opcode::or_, {lower_or, select}},
    {Opcode::xor_, {lower_xor, select}},
    {Opcode::not_, {lower_not, select}},
    {Opcode::cnot, {lower_cnot, select}},
    {Opcode::lop3, {lower_lop3, select}},
    {Opcode::shl, {lower_shl, select}},
    {Opcode::shr, {lower_shr, select}},
    {Opcode::shf, {lower_shf, select}},
    {Opcode::popc, {lower_popc, select}},
    {Opcode::clz, {lower_clz, select}},
    {Opcode::bfind, {lower_bfind, select}},
    {Opcode::fns, {lower_fns, select}},
    {Opcode::brev, {lower_brev, select}},
    {Opcode::bfe, {lower_bfe, select}},
    {Opcode::bfi, {lower_bfi, select}},
    {Opcode::bmsk, {lower_bmsk, select}},
    {Opcode::szext, {lower_szext, select}},
    {Opcode::prmt, {lower_prmt, select}},
    // Comparison and selection
    {Opcode::setp, {lower_setp, select}},
    {Opcode::set, {lower_set, select}},
    {Opcode::selp, {lower_selp, select}},
    {Opcode::slct, {lower_slct, select}},
    // Floating point
    {Opcode::fma, {lower_fma, select}},
    {Opcode::rcp, {lower_rcp, select}},
    {Opcode::sqrt, {lower_sqrt, select}},
    {Opcode::copysign, {lower_copysign, select}},
    {Opcode::testp, {lower_testp, select}},
    {Opcode::rsqrt, {lower_rsqrt, select}},
    {Opcode::sin, {lower_sin, select}},
    {Opcode::cos, {lower_cos, select}},
    {Opcode::lg2, {lower_lg2, select}},
    {Opcode::ex2, {lower_ex2, select}},
    {Opcode::tanh, {lower_tanh, select}},
    // Conversion and movement
    {Opcode::cvt, {lower_cvt, select}},
    {Opcode::mov, {lower_mov, select}},
    {Opcode::cvta, {lower_cvta, select}},
    {Opcode::isspacep, {lower_isspacep, select}},
    {Opcode::mapa, {lower_mapa, select}},
    {Opcode::getctarank, {lower_getctarank, select}},
    // Memory
    {Opcode::ld, {lower_ld, branch}},
    {Opcode::ldu, {lower_ld, branch}},
    {Opcode::st, {lower_st, branch}},
    {Opcode::fence, {lower_fence, branch}},
    {Opcode::membar, {lower_membar, branch}},
    {Opcode::atom, {lower_atom, branch}},
    {Opcode::red, {lower_red, branch}},
    // Textures and surfaces
    {Opcode::tex, {lower_tex, branch}},
    {Opcode::tld4, {lower_tld4, branch}},
    {Opcode::txq, {lower_txq, branch}},
    {Opcode::suld, {lower_suld, branch}},
    {Opcode::sust, {lower_sust, branch}},
    {Opcode::suq, {lower_suq, branch}},
    // Control
    {Opcode::bra, {lower_bra, own}},
    {Opcode::brx, {lower_brx, branch}},
    {Opcode::ret, {lower_ret, branch}},
    {Opcode::exit, {lower_exit, branch}},
    {Opcode::trap, {lower_trap, branch}},
    {Opcode::call, {lower_call, branch}},
    {Opcode::nanosleep, {lower_nanosleep, branch}},
    // Other threads
    {Opcode::bar, {lower_barrier, branch}},
    {Opcode::barrier, {lower_barrier, branch}},
    {Opcode::mbarrier, {lower_mbarrier, branch}},
    {Opcode::cp, {lower_cp, branch}},
    {Opcode::shfl, {lower_shfl, branch}},
    {Opcode::vote, {lower_vote, branch}},
    {Opcode::match, {lower_match, branch}},
    {Opcode::activemask, {lower_activemask, branch}},
    {Opcode::redux, {lower_redux, branch}},
    {Opcode::elect, {lower_elect, branch}},
    // Hints, and what only a debugger or profiler would see
    {Opcode::prefetch, {lower_nothing, select}},
    {Opcode::prefetchu, {lower_nothing, select}},
    {Opcode::discard, {lower_nothing, select}},
    {Opcode::applypriority, {lower_nothing, select}},
    {Opcode::griddepcontrol, {lower_nothing, select}},
    {Opcode::pmevent, {lower_nothing, select}},
    {Opcode::brkpt, {lower_trap, branch}},
};

constexpr std::array<Row, kOpcodes> by_opcode() {
  std::array<Row, kOpcodes> rows{};
  for (const Entry& entry : kEntries) rows[static_cast<std::size_t>(entry.opcode)] = entry.row;
  return rows;
}

constexpr std::array<Row, kOpcodes> kRows = by_opcode();

}  // namespace

const Row& row_of(Opcode opcode) { return kRows[static_cast<std::size_t>(opcode)]; }

}  // namespace softgpu::lower
