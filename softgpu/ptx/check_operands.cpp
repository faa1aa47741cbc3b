// Operands against a row of the instruction table: number, kinds and types.
#include <algorithm>

#include "softgpu/ptx/constant.hpp"
#include "softgpu/ptx/parser.hpp"

namespace softgpu::ptx {
namespace {

// What the geometry of a texture instruction asks of its coordinates.
struct CoordinateRule {
  Modifier geometry;
  bool layered;          // the first one is a layer
  std::size_t count;     // with the layer, filled up to four from three on
  std::size_t gradient;  // of each gradient vector
};

constexpr CoordinateRule kCoordinateRules[] = {
    {Modifier::line, false, 1, 1}, {Modifier::plane, false, 2, 2}, {Modifier::volume, false, 4, 4},
    {Modifier::cube, false, 4, 4}, {Modifier::lines, true, 2, 1},  {Modifier::planes, true, 4, 2},
    {Modifier::cubes, true, 4, 4},
};

bool is_untyped(Type type) {
  return type == Type::b8 || type == Type::b16 || type == Type::b32 || type == Type::b64 || type == Type::b128;
}
bool is_packed(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }
bool is_integer(Type type) { return type >= Type::u8 && type <= Type::s64; }

Type twice_as_wide(Type type) {
  switch (type) {
    case Type::u16: return Type::u32;
    case Type::s16: return Type::s32;
    case Type::u32: return Type::u64;
    case Type::s32: return Type::s64;
    default: return type;
  }
}

// PTX's rule: the sizes agree, and an untyped (.b) register or instruction goes with everything of its size. For ptxas
// a packed register is untyped, too.
bool agree(Type instruction, Type reg, bool may_be_wider) {
  if (instruction == Type::pred || reg == Type::pred) return instruction == reg;
  const unsigned wanted = bits(instruction), has = bits(reg);
  const bool size_fits = may_be_wider ? has >= wanted : has == wanted;
  if (!size_fits) return false;
  if (is_untyped(instruction) || is_untyped(reg) || is_packed(reg)) return true;
  return is_integer(instruction) ? is_integer(reg) : instruction == reg;
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

class Checker {
 public:
  Checker(const InstructionRow& row, Instruction& instruction, const Module& module, const Function& function)
      : row_(row), instruction_(instruction), module_(module), function_(function) {}

  std::optional<OperandProblem> check() {
    assign_rules();
    if (!problem_)
      for (std::size_t i = 0; i < instruction_.operands.size() && !problem_; ++i) {
        current_ = i;
        check_operand(*assigned_[i], instruction_.operands[i]);
      }
    if (!problem_) check_sides_of_move();
    return std::move(problem_);
  }

 private:
  void refuse(Location where, std::string message) { problem_ = {where, std::move(message), current_}; }

  // Which rule each operand falls under: optional ones are left out from the last to the first.
  void assign_rules() {
    std::size_t required = 0;
    for (const OperandRule& rule : row_.rules) required += rule.optional ? 0 : 1;
    const std::size_t count = instruction_.operands.size();
    if (count < required || count > row_.rules.size()) {
      const std::string most = row_.rules.size() == required ? "" : " to " + std::to_string(row_.rules.size());
      return refuse(instruction_.where, quoted(instruction_.text) + " has " + std::to_string(count) + " operand" +
                                            (count == 1 ? "" : "s") + " here but takes " + std::to_string(required) +
                                            most + (row_.operands.empty() ? "" : ": " + std::string(row_.operands)));
    }
    std::size_t extra = count - required;
    for (const OperandRule& rule : row_.rules) {
      if (rule.optional && extra == 0) continue;
      if (rule.optional) --extra;
      assigned_.push_back(&rule);
    }
  }

  Type type_for(const OperandRule& rule) const {
    using TypeRule = OperandRule::TypeRule;
    if (rule.kind == OperandRule::Kind::predicate) return Type::pred;
    if (rule.type_rule == TypeRule::fixed) return rule.fixed_type;
    if (instruction_.types.empty()) return Type::b32;
    if (rule.type_rule == TypeRule::second) return instruction_.types[1];
    if (rule.type_rule == TypeRule::wide) return twice_as_wide(instruction_.types[0]);
    return instruction_.types[0];
  }

  void check_operand(const OperandRule& rule, Operand& operand) {
    const bool value = rule.kind == OperandRule::Kind::value || rule.kind == OperandRule::Kind::predicate;
    if (operand.negated && (!value || rule.destination || type_for(rule) != Type::pred))
      return refuse(operand.where, "'!' is possible only with a predicate that is read");
    switch (rule.kind) {
      case OperandRule::Kind::label: return;
      case OperandRule::Kind::targets: return check_targets(operand);
      case OperandRule::Kind::constant:
        if (const auto* immediate = std::get_if<Immediate>(&operand.value);
            !immediate || immediate->kind != Immediate::Kind::integer)
          refuse(operand.where,
                 "operand " + quoted(rule.name) + " of " + quoted(instruction_.text) + " must be an integer constant");
        else if (instruction_.opcode == Opcode::cp && rule.name == "size")
          check_copy_size(operand, immediate->bits);
        return;
      case OperandRule::Kind::address: return check_address(rule, operand);
      case OperandRule::Kind::address_sized: return check_pointer(rule, operand);
      case OperandRule::Kind::barrier: return check_barrier(rule, operand);
      case OperandRule::Kind::coordinates:
      case OperandRule::Kind::gradient: return check_coordinates(rule, operand);
      case OperandRule::Kind::value:
      case OperandRule::Kind::predicate: return check_value(rule, operand, type_for(rule));
    }
  }

  void check_copy_size(const Operand& operand, std::uint64_t bytes) {
    const bool fits = bytes == 16 || (instruction_.has(Modifier::ca) && (bytes == 4 || bytes == 8));
    if (!fits)
      refuse(operand.where, quoted(instruction_.text) + " copies " +
                                (instruction_.has(Modifier::ca) ? "4, 8 or 16" : "16") + " bytes, not " +
                                std::to_string(bytes));
  }

  void check_targets(const Operand& operand) {
    const auto* address = std::get_if<Address>(&operand.value);
    const auto* symbol = address ? std::get_if<Symbol>(&address->base) : nullptr;
    if (!symbol || symbol->kind != Symbol::Kind::branch_targets)
      refuse(operand.where, "expected the name of a .branchtargets list");
  }

  void check_barrier(const OperandRule& rule, Operand& operand) {
    constexpr std::uint64_t kBarriers = 16;
    if (const auto* number = std::get_if<Immediate>(&operand.value); number && number->bits >= kBarriers)
      return refuse(operand.where, "there is no such barrier: they are numbered from 0 to 15");
    check_value(rule, operand, type_for(rule));
  }

  void check_pointer(const OperandRule& rule, Operand& operand) {
    const auto* reg = std::get_if<Register>(&operand.value);
    const Type wanted = reg && bits(type_of(reg->index)) == 32 ? Type::u32 : Type::u64;
    check_value(rule, operand, wanted);
  }

  void check_address(const OperandRule& rule, const Operand& operand) {
    const std::optional<Space> space = rule.space ? rule.space : instruction_.space;
    const auto* address = std::get_if<Address>(&operand.value);
    if (!address) return refuse(operand.where, quoted(instruction_.text) + " needs an address in brackets here");
    if (const auto* reg = std::get_if<Register>(&address->base)) {
      const Type type = type_of(reg->index);
      const bool fits = bits(type) == 64 || (bits(type) == 32 && is_32_bit_space(space));
      if (!fits || is_float(type))
        refuse(operand.where, describe_register(reg->index) + "; an address register must be an integer of 64 bits" +
                                  (is_32_bit_space(space) ? " or 32" : ""));
    } else if (const auto* symbol = std::get_if<Symbol>(&address->base)) {
      check_symbol_space(operand, *symbol, space);
    }
  }

  void check_coordinates(const OperandRule& rule, Operand& operand) {
    const auto geometry = std::find_if(std::begin(kCoordinateRules), std::end(kCoordinateRules),
                                       [&](const CoordinateRule& entry) { return instruction_.has(entry.geometry); });
    const bool is_gradient = rule.kind == OperandRule::Kind::gradient;
    const std::size_t wanted = is_gradient ? geometry->gradient : geometry->count;
    // One coordinate may do without the braces.
    if (auto* vector = std::get_if<VectorOperand>(&operand.value); !vector && wanted == 1)
      operand.value = VectorOperand{{operand}};
    auto* vector = std::get_if<VectorOperand>(&operand.value);
    const std::size_t count = vector ? vector->elements.size() : 0;
    const bool has_ignored = !is_gradient && count > wanted && (count == 2 || count == 4);
    if (count != wanted && !has_ignored)
      return refuse(operand.where, quoted(instruction_.text) + " needs a vector of " + std::to_string(wanted) +
                                       (wanted == 1 ? " element here" : " elements here"));
    for (std::size_t k = 0; k < count && !problem_; ++k) {
      const bool is_layer = geometry->layered && !is_gradient && k == 0;
      check_scalar({}, vector->elements[k], is_layer ? Type::u32 : type_for(rule));
    }
    vector->elements.resize(wanted);
  }

  static bool is_32_bit_space(std::optional<Space> space) {
    return space == Space::shared || space == Space::shared_cluster || space == Space::local ||
           space == Space::const_ || space == Space::param;
  }

  void check_symbol_space(const Operand& operand, const Symbol& symbol, std::optional<Space> space) {
    if (symbol.kind == Symbol::Kind::branch_targets || symbol.kind == Symbol::Kind::unresolved)
      return refuse(operand.where, quoted(symbol.name) + " is not a variable");
    if (symbol.kind == Symbol::Kind::function)
      return refuse(operand.where, quoted(symbol.name) + " is a function, not a variable");
    const Space actual = space_of(symbol);
    if (instruction_.opcode == Opcode::st && symbol.kind == Symbol::Kind::parameter && is_input(symbol))
      return refuse(operand.where, quoted(symbol.name) + " is a parameter and can't be written");
    // Without a state space the address is a generic one, which is what names in .global give. A block's own shared
    // memory is a part of the cluster's.
    Space wanted = space.value_or(Space::global);
    if (wanted == Space::shared_cluster) wanted = Space::shared;
    if (wanted != actual)
      refuse(operand.where, quoted(symbol.name) + " is in " + std::string(spelling(actual)) + ", " +
                                quoted(instruction_.text) + " accesses " +
                                (space ? std::string(spelling(*space)) : "generic addresses"));
  }

  bool is_input(const Symbol& symbol) const { return symbol.index >= function_.results.size(); }

  Space space_of(const Symbol& symbol) const {
    if (symbol.kind == Symbol::Kind::module_variable) return module_.variables[symbol.index].space;
    if (symbol.kind == Symbol::Kind::function_variable) return function_.variables[symbol.index].space;
    return Space::param;
  }

  void check_value(const OperandRule& rule, Operand& operand, Type type) {
    if (auto* vector = std::get_if<VectorOperand>(&operand.value)) {
      if (is_value_in_braces(*vector)) return check_value_in_braces(rule, operand, *vector, type);
      return check_vector(rule, operand, *vector, type);
    }
    if (instruction_.vector_width > 1 && (rule.name == "d" || rule.name == "b"))
      return refuse(operand.where, quoted(instruction_.text) + " needs a vector of " +
                                       std::to_string(instruction_.vector_width) + " elements here");
    check_scalar(rule, operand, type);
  }

  // ptxas lets these do with braces around their one value, as Triton writes it.
  bool is_value_in_braces(const VectorOperand& vector) const {
    const Opcode opcode = instruction_.opcode;
    return vector.elements.size() == 1 && instruction_.vector_width == 1 &&
           (opcode == Opcode::ld || opcode == Opcode::ldu || opcode == Opcode::st);
  }

  void check_value_in_braces(const OperandRule& rule, Operand& operand, VectorOperand& vector, Type type) {
    Operand value = std::move(vector.elements.front());
    if (value.negated) return refuse(value.where, "'!' is possible only with a predicate that is read");
    check_element(rule, value, type);
    operand = std::move(value);
  }

  // In braces, stores take special registers, too, of any type that is wide enough.
  void check_element(const OperandRule& rule, Operand& element, Type type) {
    const auto* special = std::get_if<SpecialRegister>(&element.value);
    const bool is_stored = special && instruction_.opcode == Opcode::st && bits(ptx::type_of(*special)) >= bits(type);
    if (!is_stored) check_scalar(rule, element, type);
  }

  // As ptxas wants them.
  void check_elements_fit_together(const VectorOperand& vector) {
    bool has_special = false, has_constant = false;
    unsigned width = 0;
    for (const Operand& element : vector.elements) {
      const auto* special = std::get_if<SpecialRegister>(&element.value);
      const auto* reg = std::get_if<Register>(&element.value);
      has_special |= special != nullptr;
      has_constant |= std::holds_alternative<Immediate>(element.value);
      if (has_special && has_constant)
        return refuse(element.where, "a vector can't have both a special register and a constant");
      if (!special && !reg) continue;
      const unsigned own = bits(special ? ptx::type_of(*special) : type_of(reg->index));
      if (width != 0 && own != width) return refuse(element.where, "the registers of a vector must be of one width");
      width = own;
    }
  }

  // Packs or unpacks, not both.
  void check_sides_of_move() {
    if (instruction_.opcode != Opcode::mov || instruction_.vector_width != 1) return;
    const auto is_vector = [](const Operand& side) { return std::holds_alternative<VectorOperand>(side.value); };
    const auto& sides = instruction_.operands;
    if (std::all_of(sides.begin(), sides.end(), is_vector))
      refuse(sides[1].where, quoted(instruction_.text) + " can have a vector on one side, not on both");
  }

  void check_vector(const OperandRule& rule, const Operand& operand, VectorOperand& vector, Type type) {
    const std::size_t count = vector.elements.size();
    if (rule.may_be_parts) {
      const unsigned part = count == 0 ? 0 : bits(type) / static_cast<unsigned>(count);
      const bool possible =
          (count == 1 || count == 2 || count == 4) && part * count == bits(type) && part >= 8 && is_untyped(type);
      if (!possible)
        return refuse(operand.where,
                      quoted(instruction_.text) + " can't have a vector of " + std::to_string(count) + " here");
      if (count > 1) type = part == 8 ? Type::b8 : part == 16 ? Type::b16 : Type::b32;
    } else if (instruction_.vector_width == 1 && !(count == 1 && has_handle())) {
      return refuse(operand.where, quoted(instruction_.text) + " can't have a vector here");
    } else if (count != instruction_.vector_width) {
      return refuse(operand.where, quoted(instruction_.text) + " needs " + std::to_string(instruction_.vector_width) +
                                       " elements here, not " + std::to_string(count));
    }
    OperandRule element_rule = rule;
    element_rule.may_be_parts = element_rule.may_be_symbol = false;
    element_rule.may_be_sink = rule.destination;
    for (Operand& element : vector.elements) {
      if (problem_) return;
      if (element.negated) return refuse(element.where, "'!' is possible only with a predicate that is read");
      check_element(element_rule, element, type);
    }
    if (!problem_ && !rule.destination) check_elements_fit_together(vector);
  }

  void check_scalar(const OperandRule& rule, Operand& operand, Type type) {
    if (const auto* reg = std::get_if<Register>(&operand.value)) {
      if (rule.pair == OperandRule::Pair::required)
        return refuse(operand.where, quoted(instruction_.text) + " needs two registers here: d|p");
      return check_register(rule, operand.where, reg->index, type);
    }
    if (const auto* pair = std::get_if<PredicatePair>(&operand.value)) return check_pair(rule, operand, *pair, type);
    if (std::holds_alternative<Sink>(operand.value)) {
      if (!rule.may_be_sink) refuse(operand.where, quoted(instruction_.text) + " can't have '_' here");
      return;
    }
    if (rule.destination)
      return refuse(operand.where, "the result of " + quoted(instruction_.text) + " must be a register");
    if (auto* immediate = std::get_if<Immediate>(&operand.value)) return check_immediate(operand, *immediate, type);
    if (const auto* special = std::get_if<SpecialRegister>(&operand.value))
      return check_special(operand, *special, type);
    if (const auto* address = std::get_if<Address>(&operand.value))
      return check_symbol_value(rule, operand, *address, type);
  }

  void check_register(const OperandRule& rule, Location where, std::uint32_t index, Type type) {
    if (agree(type, type_of(index), rule.may_be_wider)) return;
    refuse(where, describe_register(index) + ", " + quoted(instruction_.text) + " needs a " +
                      std::string(spelling(type)) + (rule.may_be_wider ? " or wider" : "") + " here");
  }

  void check_pair(const OperandRule& rule, const Operand& operand, const PredicatePair& pair, Type type) {
    if (rule.pair == OperandRule::Pair::none)
      return refuse(operand.where, quoted(instruction_.text) + " has one result here, not two");
    if (pair.first != kNoRegister)
      check_register(rule, operand.where, pair.first, type);
    else if (!rule.may_be_sink && type != Type::pred)
      refuse(operand.where, quoted(instruction_.text) + " can't have '_' here");
    if (!problem_ && pair.second != kNoRegister) check_register(rule, operand.where, pair.second, Type::pred);
  }

  void check_immediate(const Operand& operand, Immediate& immediate, Type type) {
    if (const auto converted = convert(immediate, type)) {
      immediate = *converted;
      return;
    }
    const bool integer = immediate.kind == Immediate::Kind::integer;
    const bool half = type == Type::f16 || type == Type::bf16;
    refuse(operand.where, std::string(integer ? "an integer" : "a floating-point") + " constant can't be a " +
                              std::string(spelling(type)) +
                              (half             ? "; put it into a register"
                               : is_float(type) ? "; write it with a point or as 0f… or 0d…"
                                                : ""));
  }

  void check_special(const Operand& operand, SpecialRegister special, Type type) {
    if (instruction_.opcode != Opcode::mov && instruction_.opcode != Opcode::cvt)
      return refuse(operand.where,
                    quoted(instruction_.text) + " can't read a special register; mov it to a register first");
    const Type actual = ptx::type_of(special);
    // PTX 1.x had 16-bit %tid and %ctaid and a 32-bit %gridid; reading the lower half is still allowed.
    const bool halves = actual == Type::u32 || special == SpecialRegister::gridid;
    const bool fits = bits(type) == bits(actual) || (halves && 2 * bits(type) == bits(actual));
    if (!fits || is_float(type))
      refuse(operand.where, quoted(spelling(special)) + " is a " + std::string(spelling(actual)) + ", " +
                                quoted(instruction_.text) + " needs a " + std::string(spelling(type)) + " here");
  }

  void check_symbol_value(const OperandRule& rule, const Operand& operand, const Address& address, Type type) {
    const auto* symbol = std::get_if<Symbol>(&address.base);
    if (!symbol || !rule.may_be_symbol)
      return refuse(operand.where, quoted(instruction_.text) + " needs a register or a constant here, not an address");
    if (instruction_.opcode != Opcode::mov) {
      check_symbol_space(operand, *symbol, instruction_.space);
      if (problem_) return;
    }
    const bool narrow = symbol->kind == Symbol::Kind::function || space_of(*symbol) == Space::global;
    const bool fits = bits(type) == 64 || (bits(type) == 32 && !narrow);
    if (!fits || is_float(type))
      refuse(operand.where,
             "the address of " + quoted(symbol->name) + " does not fit a " + std::string(spelling(type)));
  }

  // Surface instructions write a single value as a vector, too.
  bool has_handle() const {
    return std::any_of(row_.rules.begin(), row_.rules.end(), [](const OperandRule& rule) { return rule.in_brackets; });
  }

  Type type_of(std::uint32_t index) const { return function_.registers[index].type; }
  std::string describe_register(std::uint32_t index) const {
    return quoted(function_.registers[index].name) + " is a " + std::string(spelling(type_of(index)));
  }

  const InstructionRow& row_;
  Instruction& instruction_;
  const Module& module_;
  const Function& function_;
  ShortList<const OperandRule*, 8> assigned_;
  std::size_t current_ = 0;
  std::optional<OperandProblem> problem_;
};

}  // namespace

std::optional<OperandProblem> check_operands(const InstructionRow& row, Instruction& instruction, const Module& module,
                                             const Function& function) {
  return Checker(row, instruction, module, function).check();
}

}  // namespace softgpu::ptx
