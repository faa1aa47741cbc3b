// A random PTX program as data: the writer makes PTX text of it, the interpreter runs it.
//
// A program is one kernel, device functions that it calls, and the launch. A function is a list of instructions with
// labels among them, over untyped registers of 16, 32 and 64 bits and predicates. Registers that hold addresses are a
// class of their own: what is in them differs between a GPU and the interpreter, so they are never stored or compared.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ptx_fuzz {

enum class Type : std::uint8_t {
  pred,
  b8,
  u8,
  s8,
  b16,
  u16,
  s16,
  f16,
  b32,
  u32,
  s32,
  f32,
  b64,
  u64,
  s64,
  f64,
  bf16,
  f16x2,
  bf16x2
};

unsigned bits_of(Type type);
inline unsigned bytes_of(Type type) { return bits_of(type) / 8; }
bool is_signed(Type type);
bool is_float(Type type);
/// Two halves in 32 bits, and what each of them is.
bool is_packed(Type type);
Type half_of(Type type);
const char* name_of(Type type);  // "u32"
/// The type of this kind ('b', 'u', 's', 'f') and width.
Type make_type(char kind, unsigned bits);

/// The low `bits` of a value, and the same with its sign extended.
constexpr std::uint64_t truncate(std::uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}
constexpr std::int64_t sign_extend(std::uint64_t value, unsigned bits) {
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

enum class RegisterClass : std::uint8_t { predicate, half, word, wide, address };
RegisterClass class_for(unsigned bits);

enum class Op : std::uint8_t {
#define OPERATION(op, spelling) op,
#include "fuzz/ptx/model/operations.def"
};

bool touches_carry(Op op);

const char* name_of(Op op);  // "add", as a reader of the generator knows it

/// What tells instructions of one name apart, in PTX's spelling.
enum class Variant : std::uint8_t {
  none,
#define VARIANT(name, spelling) name,
#include "fuzz/ptx/model/variants.def"
};
const char* name_of(Variant variant);

enum class Space : std::uint8_t { generic, global, shared, local };
const char* name_of(Space space);  // "" for generic

/// What every thread can ask for.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  nctaid_x,
  laneid,
  parameter0,  // the launch's numbers
  parameter1,
  parameter2,
};

struct Operand {
  enum class Kind : std::uint8_t { none, reg, constant, special };
  Kind kind = Kind::none;
  std::uint64_t value = 0;  // the register's number, the constant, or the Special

  static Operand reg(int number) { return {Kind::reg, static_cast<std::uint64_t>(number)}; }
  static Operand constant(std::uint64_t value) { return {Kind::constant, value}; }
  static Operand special(Special which) { return {Kind::special, static_cast<std::uint64_t>(which)}; }
};

struct Instruction {
  Op op{};
  Type type = Type::u32;
  Type from = Type::u32;  // of a conversion's source
  Variant variant = Variant::none;
  Variant combine = Variant::none;  // setp: how the result is combined with a further predicate
  Space space = Space::generic;
  bool saturate = false;
  bool aligned = true;  // of a barrier
  int offset = 0;       // of an address
  int target = -1;      // a label's number or a function's
  int guard = -1;       // the predicate register that must be true (or, if negated, false), or -1
  bool guard_negated = false;
  std::vector<int> targets;      // of a branch table, labels
  std::vector<int> results;      // registers; -1 for one that is not wanted
  std::vector<Operand> sources;  // of a memory access, the address comes first
};

/// Which NaN an instruction gives is nobody's business: the writer makes all of them the same one right behind it, and
/// so does the interpreter.
bool may_give_nan(const Instruction& instruction);
std::uint64_t canonical_nan(Type type);

struct Function {
  std::string name;
  std::vector<RegisterClass> registers;
  std::vector<int> parameters;  // registers that the caller fills
  int result = -1;              // the register that goes to the caller
  int labels = 0;
  unsigned local_bytes = 0;
  std::vector<Instruction> body;

  int add_register(RegisterClass register_class) {
    registers.push_back(register_class);
    return static_cast<int>(registers.size()) - 1;
  }
};

struct Extent {
  unsigned x = 1, y = 1, z = 1;
  unsigned count() const { return x * y * z; }
};

struct Program {
  std::uint64_t seed = 0;
  Extent block;
  unsigned blocks = 1;
  std::array<std::uint32_t, 3> parameters{};
  std::vector<std::uint8_t> memory;  // what global memory holds before the launch
  unsigned shared_bytes = 0;
  std::vector<Function> functions;  // the kernel first

  unsigned threads() const { return blocks * block.count(); }
};

}  // namespace ptx_fuzz
