#include "fuzz/ptx/model/program.hpp"

namespace ptx_fuzz {
namespace {

struct TypeFacts {
  const char* name;
  char kind;
  unsigned bits;
};

constexpr TypeFacts kTypes[] = {
    {"pred", 'p', 1}, {"b8", 'b', 8},    {"u8", 'u', 8},     {"s8", 's', 8},      {"b16", 'b', 16},
    {"u16", 'u', 16}, {"s16", 's', 16},  {"f16", 'f', 16},   {"b32", 'b', 32},    {"u32", 'u', 32},
    {"s32", 's', 32}, {"f32", 'f', 32},  {"b64", 'b', 64},   {"u64", 'u', 64},    {"s64", 's', 64},
    {"f64", 'f', 64}, {"bf16", 'h', 16}, {"f16x2", 'h', 32}, {"bf16x2", 'h', 32},
};

const TypeFacts& facts(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace

unsigned bits_of(Type type) { return facts(type).bits; }
bool is_signed(Type type) { return facts(type).kind == 's'; }
bool is_float(Type type) { return facts(type).kind == 'f' || facts(type).kind == 'h'; }
bool is_packed(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }
Type half_of(Type type) { return type == Type::f16x2 ? Type::f16 : Type::bf16; }
const char* name_of(Type type) { return facts(type).name; }

Type make_type(char kind, unsigned bits) {
  std::size_t found = 0;
  while (kTypes[found].kind != kind || kTypes[found].bits != bits) ++found;
  return static_cast<Type>(found);
}

RegisterClass class_for(unsigned bits) {
  if (bits == 1) return RegisterClass::predicate;
  if (bits <= 16) return RegisterClass::half;
  return bits == 32 ? RegisterClass::word : RegisterClass::wide;
}

bool touches_carry(Op op) { return op >= Op::add_cc && op <= Op::madc_hi_cc; }

bool may_give_nan(const Instruction& instruction) {
  if (!is_float(instruction.type)) return false;
  switch (instruction.op) {
    case Op::add:
    case Op::sub:
    case Op::mul_lo:
    case Op::fma:
    case Op::div:
    case Op::sqrt:
    case Op::rcp:
    case Op::min:
    case Op::max:
    case Op::neg:
    case Op::abs:
    case Op::cvt: return true;
    default: return false;
  }
}

std::uint64_t canonical_nan(Type type) {
  switch (type) {
    case Type::f64: return 0x7ff8000000000000u;
    case Type::f32: return 0x7fc00000u;
    default: return 0x7fff;
  }
}

const char* name_of(Op op) {
  constexpr const char* kNames[] = {
#define OPERATION(name, spelling) #name,
#include "fuzz/ptx/model/operations.def"
  };
  return kNames[static_cast<std::size_t>(op)];
}

const char* name_of(Variant variant) {
  constexpr const char* kNames[] = {
      "",
#define VARIANT(name, spelling) spelling,
#include "fuzz/ptx/model/variants.def"
  };
  return kNames[static_cast<std::size_t>(variant)];
}

const char* name_of(Space space) {
  constexpr const char* kNames[] = {"", "global", "shared", "local"};
  return kNames[static_cast<std::size_t>(space)];
}

}  // namespace ptx_fuzz
