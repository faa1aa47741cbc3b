// instructions.def in a form that the parser can match against.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/ptx/ast.hpp"
#include "softgpu/ptx/diagnostic.hpp"

namespace softgpu::ptx {

// One of the words that may follow an opcode: a modifier, a type or a vector width. (State spaces are apart: their
// place among the other suffixes is free.)
using Suffix = std::uint8_t;
inline constexpr std::size_t kSuffixes = 256;
using SuffixSet = std::bitset<kSuffixes>;

std::optional<Suffix> suffix_named(std::string_view);
std::string_view spelling_of_suffix(std::size_t suffix);
bool is_type(Suffix);
std::vector<std::string_view> all_suffixes();
void add_suffix(Instruction&, Suffix);  // to its modifiers, types or vector width

// Takes ".rn" from the front of ".rn.L2::128B".
std::string_view take_suffix(std::string_view& text);

// One place for a suffix in a row.
struct SuffixPlace {
  SuffixSet allowed;
  std::uint8_t skip = 0;  // how many places, from this one, may be left out together; 0: it is required
};

struct OperandRule {
  enum class Kind : std::uint8_t {
    value,
    address,
    predicate,
    constant,
    label,
    targets,
    address_sized,
    barrier,
    coordinates,  // of a texture or surface
    gradient,
  } kind = Kind::value;
  enum class TypeRule : std::uint8_t { first, second, wide, fixed } type_rule = TypeRule::first;
  Type fixed_type{};
  bool destination = false;
  bool optional = false;
  bool may_be_sink = false;
  bool may_be_wider = false;   // a register wider than the type: ld, st, cvt
  bool may_be_parts = false;   // mov packs and unpacks
  bool may_be_symbol = false;  // the address of a variable or function
  bool is_vector = false;      // never a single register
  bool in_brackets = false;    // the handle of a texture or surface: [a, c] makes two operands
  enum class Pair : std::uint8_t { none, optional, required } pair = Pair::none;
  std::optional<Space> space;  // of an address, where it is not the instruction's
  std::string_view name;
};

struct InstructionRow {
  std::string_view group, suffixes, operands;  // as instructions.def has them
  Opcode opcode{};
  std::vector<SuffixPlace> places;
  std::uint16_t spaces = 0;  // a bit for each Space
  bool space_optional = true;
  std::vector<OperandRule> rules;
};

struct RefusedInstruction {
  std::string_view pattern, reason;
};

// A name that rows use for one of several suffixes.
struct SuffixClass {
  std::string_view name, members;
};

const std::vector<SuffixClass>& suffix_classes();
const std::vector<InstructionRow>& instruction_rows();
const std::vector<RefusedInstruction>& refused_instructions();

// An opcode with its suffixes, matched with the table.
struct InstructionForm {
  Instruction prototype;                    // opcode, modifiers, types, space, vector width and text are filled in
  std::vector<const InstructionRow*> rows;  // those whose suffixes match; empty: see below
  Diagnostic::Cause cause = Diagnostic::Cause::invalid;
  std::string problem;             // why no row matches
  std::size_t problem_offset = 0;  // in the text
};
InstructionForm match_instruction(std::string_view text);

}  // namespace softgpu::ptx
