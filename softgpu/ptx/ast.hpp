// What the parser makes of a PTX module, and what the checker and lowering read.
//
// A Module is plain data and owns all its text. Every instruction is one row of the instruction table
// (instructions.def) filled in: opcode, modifiers, types, operands, in the order of the text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "softgpu/ptx/short_list.hpp"
#include "softgpu/ptx/vocabulary.hpp"

namespace softgpu::ptx {

struct Location {
  std::uint32_t line = 0, column = 0;  // from 1
};

struct Register {
  std::uint32_t index = 0;  // into Function::registers
};

// An integer or floating constant. A floating constant (0f…, 0d…, 1.5) holds the bits of a double in `bits`
// and says so, except that 0f constants keep their float bits: see `kind`.
struct Immediate {
  enum class Kind : std::uint8_t { integer, float_bits, double_bits } kind = Kind::integer;
  std::uint64_t bits = 0;
};

// A variable, function or label by name, resolved by the checker.
struct Symbol {
  enum class Kind : std::uint8_t {
    unresolved,
    module_variable,
    function_variable,
    parameter,
    function,
    label,
    branch_targets
  } kind = Kind::unresolved;
  std::uint32_t index = 0;  // into Module::variables, Function::variables, Function::parameters (results come
                            // first, see there), Module::functions, Function::labels or Function::branch_targets
  std::string name;
};

// [base+offset], and also symbol+offset as a value (mov.u64 %rd, array+8).
struct Address {
  std::variant<std::monostate, Register, Symbol> base;  // monostate: an absolute address
  std::int64_t offset = 0;
};

struct Operand;
struct VectorOperand {  // {a, b, c, d}
  std::vector<Operand> elements;
};
struct Sink {};                         // _
struct PredicatePair {                  // p|q, also d|p of shfl.sync
  std::uint32_t first = 0, second = 0;  // registers; kNoRegister for _
};
inline constexpr std::uint32_t kNoRegister = 0xffffffff;
inline constexpr std::uint32_t kNoFunction = 0xffffffff;

struct Operand {
  std::variant<Register, Immediate, Address, SpecialRegister, VectorOperand, PredicatePair, Sink> value;
  bool negated = false;  // !p
  Location where;
};

struct Guard {  // @p or @!p
  Register predicate;
  bool negated = false;
};

// call (results), callee, (arguments), prototype-or-targets;
struct Call {
  std::vector<Operand> results, arguments;  // Address with a .param Symbol base, or Register or Immediate
  std::variant<Symbol, Register> callee;    // Register: an indirect call
  std::uint32_t prototype = kNoRegister;    // indirect: index into Function::prototypes
};

struct Instruction {
  Opcode opcode{};
  ShortList<Modifier, 10> modifiers;  // everything after the opcode but types and state spaces, in order
  ShortList<Type, 4> types;           // in order: cvt.rn.f32.s32 has {f32, s32}
  std::optional<Space> space;         // ld, st, atom, cvta…: the (first) state space; none means generic
  std::uint8_t vector_width = 1;      // .v2, .v4, .v8
  std::vector<Operand> operands;      // destinations first, as written
  std::optional<Guard> guard;
  std::shared_ptr<Call> call;  // opcode call only; apart, because few instructions have one
  Location where;
  std::string text;  // the opcode with its suffixes as written, for messages: "add.f32"

  bool has(Modifier modifier) const {
    for (Modifier m : modifiers)
      if (m == modifier) return true;
    return false;
  }
};

// One piece of a variable's initial value that is an address: at `offset`, of `size` bytes (8 unless mask()).
struct Relocation {
  std::uint64_t offset = 0;
  Symbol target;
  std::int64_t addend = 0;
};

enum class Linkage : std::uint8_t { internal, visible, external, weak, common };

struct Variable {
  std::string name;
  Space space{};
  Type type{};             // of one element
  std::uint64_t size = 0;  // bytes in all; 0 for an unsized extern array
  std::uint32_t alignment = 1;
  Linkage linkage = Linkage::internal;
  std::vector<std::uint8_t> initial;  // empty: zero; else `size` bytes
  std::vector<Relocation> relocations;
  bool managed = false;
  std::uint32_t part = 0;  // into Module::parts
  Location where;
};

struct Label {
  std::string name;
  std::uint32_t target = 0;  // index into Function::body of the instruction it stands before; may be body.size()
  Location where;
};

struct BranchTargets {  // name: .branchtargets a, b, c;
  std::string name;
  std::vector<Symbol> labels;
};

struct Parameter {
  std::string name;
  Type type{};
  std::uint64_t size = 0;  // bytes
  std::uint32_t alignment = 1;
  bool is_register = false;  // .reg parameter of a device function
  std::uint32_t register_index = kNoRegister;
  bool is_array = false;     // .b8 name[n]
  std::uint64_t offset = 0;  // kernels: where it is in the parameter block
  Location where;
};

struct Prototype {  // name: .callprototype (results) _ (parameters);
  std::string name;
  std::vector<Parameter> results, parameters;
};

struct RegisterInfo {
  std::string name;
  Type type{};
};

struct Function {
  std::string name;
  bool is_kernel = false;
  Linkage linkage = Linkage::internal;
  bool is_definition = false;
  bool noreturn = false;
  std::vector<Parameter> results;  // device functions
  std::vector<Parameter> parameters;
  std::vector<RegisterInfo> registers;  // all scopes; a register of an inner {} gets an entry of its own
  std::vector<Variable> variables;      // .local, .shared and .param variables of the body, all scopes
  std::vector<Label> labels;
  std::vector<BranchTargets> branch_targets;
  std::vector<Prototype> prototypes;
  std::vector<Instruction> body;
  // Performance directives; 0 where absent.
  std::uint32_t max_threads[3] = {0, 0, 0};       // .maxntid
  std::uint32_t required_threads[3] = {0, 0, 0};  // .reqntid
  std::uint32_t min_blocks_per_multiprocessor = 0;
  std::uint32_t max_registers = 0;
  std::uint32_t required_cluster[3] = {0, 0, 0};
  bool explicit_cluster = false;
  bool blocks_are_clusters = false;  // a launch counts clusters where others count blocks
  std::uint32_t max_cluster_rank = 0;
  std::uint64_t parameter_bytes = 0;     // kernels: size of the parameter block
  std::uint32_t alias_of = kNoFunction;  // .alias: another name of this function, which has the body
  std::uint32_t part = 0;                // into Module::parts
  Location where;
};

// Symbol{kind = parameter}: index < results.size() names a result, else parameters[index - results.size()].

struct Module {
  std::uint32_t version_major = 0, version_minor = 0;
  std::string target;                    // "sm_90a"
  std::uint32_t compute_capability = 0;  // 90
  std::uint32_t address_size = 64;
  std::vector<Variable> variables;  // .global, .const and module-scope .shared
  std::vector<Function> functions;  // one entry per name; a declaration is replaced by its definition
  std::vector<std::string> parts;   // the names of the modules that were linked to this one; see link.hpp
};

}  // namespace softgpu::ptx
