// The words of PTX: opcodes, modifiers, types, state spaces, special registers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace softgpu::ptx {

enum class Opcode : std::uint16_t {
#define OPCODE(identifier, spelling) identifier,
#include "softgpu/ptx/opcodes.def"
#undef OPCODE
};

enum class Modifier : std::uint8_t {
#define MODIFIER(identifier, spelling) identifier,
#include "softgpu/ptx/modifiers.def"
#undef MODIFIER
};

enum class Type : std::uint8_t {
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
  tf32,
  u16x2,
  s16x2,
  f32x2,
  e4m3x2,
  e5m2x2,
};

constexpr unsigned bits(Type type) {
  switch (type) {
    case Type::pred: return 1;
    case Type::b8:
    case Type::u8:
    case Type::s8: return 8;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
    case Type::e4m3x2:
    case Type::e5m2x2: return 16;
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f32:
    case Type::f16x2:
    case Type::bf16x2:
    case Type::tf32:
    case Type::u16x2:
    case Type::s16x2: return 32;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64:
    case Type::f32x2: return 64;
    case Type::b128: return 128;
  }
  return 0;
}
constexpr unsigned bytes_of(Type type) { return (bits(type) + 7) / 8; }
constexpr bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
constexpr bool is_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
}

enum class Space : std::uint8_t { reg, const_, global, local, param, shared, shared_cluster, tex };

enum class SpecialRegister : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  envreg1,  // upper half of the address of a cooperative grid's workspace
  envreg2,  // lower half
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  total_smem_size,
  dynamic_smem_size,
  aggr_smem_size,
  reserved_smem_offset_begin,
  reserved_smem_offset_end,
  reserved_smem_offset_cap,
  reserved_smem_offset_0,
  reserved_smem_offset_1,
  current_graph_exec,
  warp_size,  // WARP_SZ
};

// Names as PTX spells them: "add", ".rn", ".f32", ".shared", "%tid.x".
std::string_view spelling(Opcode);
std::string_view spelling(Modifier);
std::string_view spelling(Type);
std::string_view spelling(Space);
std::string_view spelling(SpecialRegister);

std::optional<Opcode> opcode_named(std::string_view);
std::optional<Modifier> modifier_named(std::string_view);
std::optional<Type> type_named(std::string_view);
std::optional<Space> space_named(std::string_view);  // also .shared::cta, .param::entry, .param::func
std::optional<SpecialRegister> special_register_named(std::string_view);

// Whether it tells where the reserved part of shared memory is.
bool is_of_reserved_shared_memory(SpecialRegister);
// The type that reading a special register gives: .u32, .u64 or .pred.
Type type_of(SpecialRegister);

// A special register of PTX that softgpu does not have, such as %envreg3.
bool is_unsupported_special_register(std::string_view);

}  // namespace softgpu::ptx
