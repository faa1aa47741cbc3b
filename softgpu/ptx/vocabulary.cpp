#include "softgpu/ptx/vocabulary.hpp"

#include <array>
#include <cctype>
#include <string>
#include <unordered_map>

namespace softgpu::ptx {
namespace {

constexpr std::array kOpcodes = {
#define OPCODE(identifier, spelling) std::string_view(spelling),
#include "softgpu/ptx/opcodes.def"
#undef OPCODE
};

constexpr std::array kModifiers = {
#define MODIFIER(identifier, spelling) std::string_view(spelling),
#include "softgpu/ptx/modifiers.def"
#undef MODIFIER
};

// In the order of the enumerations.
constexpr std::array<std::string_view, 26> kTypes = {
    ".pred", ".b8",  ".b16",  ".b32",   ".b64",   ".b128",  ".u8",     ".u16",   ".u32",
    ".u64",  ".s8",  ".s16",  ".s32",   ".s64",   ".f16",   ".f16x2",  ".bf16",  ".bf16x2",
    ".f32",  ".f64", ".tf32", ".u16x2", ".s16x2", ".f32x2", ".e4m3x2", ".e5m2x2"};
static_assert(kTypes.size() == static_cast<std::size_t>(Type::e5m2x2) + 1);

constexpr std::array<std::string_view, 8> kSpaces = {".reg",   ".const",  ".global",          ".local",
                                                     ".param", ".shared", ".shared::cluster", ".tex"};
static_assert(kSpaces.size() == static_cast<std::size_t>(Space::tex) + 1);

constexpr std::array<std::string_view, 56> kSpecialRegisters = {"%tid.x",
                                                                "%tid.y",
                                                                "%tid.z",
                                                                "%ntid.x",
                                                                "%ntid.y",
                                                                "%ntid.z",
                                                                "%ctaid.x",
                                                                "%ctaid.y",
                                                                "%ctaid.z",
                                                                "%nctaid.x",
                                                                "%nctaid.y",
                                                                "%nctaid.z",
                                                                "%clusterid.x",
                                                                "%clusterid.y",
                                                                "%clusterid.z",
                                                                "%nclusterid.x",
                                                                "%nclusterid.y",
                                                                "%nclusterid.z",
                                                                "%cluster_ctaid.x",
                                                                "%cluster_ctaid.y",
                                                                "%cluster_ctaid.z",
                                                                "%cluster_nctaid.x",
                                                                "%cluster_nctaid.y",
                                                                "%cluster_nctaid.z",
                                                                "%cluster_ctarank",
                                                                "%cluster_nctarank",
                                                                "%is_explicit_cluster",
                                                                "%laneid",
                                                                "%warpid",
                                                                "%nwarpid",
                                                                "%smid",
                                                                "%nsmid",
                                                                "%gridid",
                                                                "%envreg1",
                                                                "%envreg2",
                                                                "%lanemask_eq",
                                                                "%lanemask_le",
                                                                "%lanemask_lt",
                                                                "%lanemask_ge",
                                                                "%lanemask_gt",
                                                                "%clock",
                                                                "%clock_hi",
                                                                "%clock64",
                                                                "%globaltimer",
                                                                "%globaltimer_lo",
                                                                "%globaltimer_hi",
                                                                "%total_smem_size",
                                                                "%dynamic_smem_size",
                                                                "%aggr_smem_size",
                                                                "%reserved_smem_offset_begin",
                                                                "%reserved_smem_offset_end",
                                                                "%reserved_smem_offset_cap",
                                                                "%reserved_smem_offset_0",
                                                                "%reserved_smem_offset_1",
                                                                "%current_graph_exec",
                                                                "WARP_SZ"};
static_assert(kSpecialRegisters.size() == static_cast<std::size_t>(SpecialRegister::warp_size) + 1);

template <typename Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view name) {
  static const auto index = [&names] {
    std::unordered_map<std::string_view, Enum> map;
    for (std::size_t i = 0; i < N; ++i) map.emplace(names[i], static_cast<Enum>(i));
    return map;
  }();
  const auto found = index.find(name);
  if (found == index.end()) return std::nullopt;
  return found->second;
}

template <typename Enum, std::size_t N>
std::string_view name_of(const std::array<std::string_view, N>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

}  // namespace

std::string_view spelling(Opcode opcode) { return name_of(kOpcodes, opcode); }
std::string_view spelling(Modifier modifier) { return name_of(kModifiers, modifier); }
std::string_view spelling(Type type) { return name_of(kTypes, type); }
std::string_view spelling(Space space) { return name_of(kSpaces, space); }
std::string_view spelling(SpecialRegister reg) { return name_of(kSpecialRegisters, reg); }

std::optional<Opcode> opcode_named(std::string_view name) { return find<Opcode>(kOpcodes, name); }
std::optional<Modifier> modifier_named(std::string_view name) { return find<Modifier>(kModifiers, name); }
std::optional<Type> type_named(std::string_view name) { return find<Type>(kTypes, name); }

std::optional<Space> space_named(std::string_view name) {
  if (name == ".shared::cta") return Space::shared;
  if (name == ".param::entry" || name == ".param::func") return Space::param;
  return find<Space>(kSpaces, name);
}

std::optional<SpecialRegister> special_register_named(std::string_view name) {
  return find<SpecialRegister>(kSpecialRegisters, name);
}

bool is_of_reserved_shared_memory(SpecialRegister reg) {
  return reg >= SpecialRegister::reserved_smem_offset_begin && reg <= SpecialRegister::reserved_smem_offset_1;
}

Type type_of(SpecialRegister reg) {
  switch (reg) {
    case SpecialRegister::is_explicit_cluster: return Type::pred;
    case SpecialRegister::gridid:
    case SpecialRegister::clock64:
    case SpecialRegister::globaltimer:
    case SpecialRegister::current_graph_exec: return Type::u64;
    default: return Type::u32;
  }
}

bool is_unsupported_special_register(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid"};
  static constexpr std::array<std::string_view, 2> kFamilies = {"%envreg", "%pm"};
  for (std::string_view known : kNames)
    if (name == known) return true;
  for (std::string_view family : kFamilies)
    if (name.starts_with(family)) return true;
  return false;
}

}  // namespace softgpu::ptx
