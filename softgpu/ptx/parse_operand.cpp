// Operands.
#include <algorithm>

#include "softgpu/ptx/parser.hpp"
#include "softgpu/ptx/suggest.hpp"

namespace softgpu::ptx {
namespace {

constexpr std::size_t kWidestVector = 8;

}  // namespace

Operand Parser::parse_operand(OperandRule::Kind kind) {
  Operand operand;
  const Token& next = reader_.peek();
  const Location where = next.where;
  if (reader_.at("{")) {
    operand = parse_vector();
  } else if (reader_.at("[")) {
    operand = parse_address();
  } else if (reader_.at("!")) {
    operand = parse_negated();
  } else if (next.kind == Token::Kind::identifier && next.text != "WARP_SZ") {
    const Token name = reader_.take();
    if (kind == OperandRule::Kind::address && !reader_.at("["))
      reader_.fail(where, "expected an address in brackets, found '" + std::string(name.text) + "'");
    operand = parse_named(name);
  } else {
    if (!starts_constant(next)) reader_.fail_at_next("an operand");
    operand.value = read_constant(reader_).value;
  }
  operand.where = where;
  return operand;
}

// !p, or a constant such as !0.
Operand Parser::parse_negated() {
  reader_.take();
  Operand operand;
  if (starts_constant(reader_.peek())) {
    const Constant constant = read_constant(reader_);
    if (!constant.is_integer()) reader_.fail(constant.where, "'!' needs an integer constant");
    operand.value = Immediate{Immediate::Kind::integer, constant.value.bits == 0 ? std::uint64_t{1} : 0};
  } else {
    operand = parse_named(reader_.expect_identifier("a predicate behind '!'"));
    operand.negated = true;
  }
  return operand;
}

// The label is resolved at the end of its block.
Operand Parser::parse_label_use(std::uint32_t operand_index) {
  const Token name = reader_.expect_identifier("a label");
  Operand operand;
  operand.value = Address{Symbol{Symbol::Kind::unresolved, 0, std::string(name.text)}, 0};
  operand.where = name.where;
  statement_label_uses_.push_back(
      {name.text, name.where, false, static_cast<std::uint32_t>(function().body.size()), operand_index});
  return operand;
}

// {a, b, _, d}
Operand Parser::parse_vector() {
  reader_.take();
  VectorOperand vector;
  do {
    const Location where = reader_.peek().where;
    if (vector.elements.size() == kWidestVector) reader_.fail(where, "a vector has at most 8 elements");
    if (reader_.at("{") || reader_.at("[")) reader_.fail_at_next("a register or a constant");
    vector.elements.push_back(parse_operand(OperandRule::Kind::value));
  } while (reader_.accept(","));
  reader_.expect("}", "behind the vector");
  Operand operand;
  operand.value = std::move(vector);
  return operand;
}

// [base], [base+8], [base-8], [0x1000]
Operand Parser::parse_address() {
  reader_.take();
  Address address;
  if (reader_.peek().kind == Token::Kind::identifier && reader_.peek().text != "WARP_SZ") {
    address.base = parse_base(reader_.take());
    address.offset = parse_offset();
  } else {
    const Constant constant = read_constant(reader_);
    if (!constant.is_integer()) reader_.fail(constant.where, "an address is an integer");
    address.offset = static_cast<std::int64_t>(constant.value.bits);
  }
  reader_.expect("]", "behind the address");
  reader_.accept_directive(".unified");  // a promise about the address, of no use here
  Operand operand;
  operand.value = std::move(address);
  return operand;
}

// [handle, {x, y}], or [handle]: two operands, or one.
void Parser::parse_texture_address(std::vector<Operand>& operands, bool has_coordinates) {
  reader_.expect("[", "before the texture or surface");
  operands.push_back(parse_operand(OperandRule::Kind::value));
  if (has_coordinates) {
    reader_.expect(",", "between the texture or surface and the coordinates");
    operands.push_back(parse_operand(OperandRule::Kind::value));
  }
  reader_.expect("]", "behind the texture or surface");
}

std::variant<std::monostate, Register, Symbol> Parser::parse_base(const Token& name) {
  const Binding* binding = find_name(name.text);
  if (!binding) fail_unknown_name(name, "a register or variable");
  if (binding->kind == Binding::Kind::register_) return Register{binding->index};
  return symbol_of(name, *binding);
}

// +constant, -constant, or nothing.
std::int64_t Parser::parse_offset() {
  if (!reader_.at("+") && !reader_.at("-")) return 0;
  const bool minus = reader_.take().is("-");
  const Constant constant = read_constant(reader_);
  if (!constant.is_integer()) reader_.fail(constant.where, "an offset is an integer");
  return static_cast<std::int64_t>(minus ? 0 - constant.value.bits : constant.value.bits);
}

Symbol Parser::symbol_of(const Token& name, const Binding& binding) const {
  Symbol symbol;
  symbol.name = name.text;
  symbol.index = binding.index;
  switch (binding.kind) {
    case Binding::Kind::module_variable: symbol.kind = Symbol::Kind::module_variable; break;
    case Binding::Kind::function_variable: symbol.kind = Symbol::Kind::function_variable; break;
    case Binding::Kind::parameter: symbol.kind = Symbol::Kind::parameter; break;
    case Binding::Kind::function: symbol.kind = Symbol::Kind::function; break;
    case Binding::Kind::branch_targets: symbol.kind = Symbol::Kind::branch_targets; break;
    case Binding::Kind::register_:
    case Binding::Kind::prototype: break;
  }
  return symbol;
}

Operand Parser::parse_named(const Token& name) {
  Operand operand;
  if (name.text == "_") {
    operand.value = Sink{};
    if (reader_.accept("|")) operand.value = PredicatePair{kNoRegister, parse_second_of_pair()};
    return operand;
  }
  const Binding* binding = find_name(name.text);
  if (!binding) return parse_special_register(name);
  if (binding->kind == Binding::Kind::register_) return parse_register(name, *binding);
  Address address{symbol_of(name, *binding), 0};
  if (binding->kind == Binding::Kind::prototype)
    reader_.fail(name.where, "'" + std::string(name.text) + "' is a prototype, not a value");
  address.offset = reader_.at("[") ? parse_index(std::get<Symbol>(address.base)) : parse_offset();
  operand.value = std::move(address);
  return operand;
}

// %r, %v (a vector register), %v.x, %p|%q
Operand Parser::parse_register(const Token& name, const Binding& binding) {
  Operand operand;
  operand.where = name.where;
  const Binding reg = binding;
  if (reg.width > 1) {
    if (reader_.peek().kind == Token::Kind::directive) {
      const Token element = reader_.take();
      const std::size_t position = std::string_view("xyzw").find(element.text.substr(1));
      const std::size_t colour = std::string_view("rgba").find(element.text.substr(1));
      const std::size_t index = std::min(position, colour);
      if (element.text.size() != 2 || index >= reg.width)
        reader_.fail(element.where,
                     "'" + std::string(name.text) + "' has no element '" + std::string(element.text) + "'");
      operand.value = Register{reg.index + static_cast<std::uint32_t>(index)};
      return operand;
    }
    VectorOperand vector;
    for (std::uint32_t i = 0; i < reg.width; ++i) {
      Operand element;
      element.value = Register{reg.index + i};
      element.where = name.where;
      vector.elements.push_back(element);
    }
    operand.value = std::move(vector);
    return operand;
  }
  if (reader_.accept("|"))
    operand.value = PredicatePair{reg.index, parse_second_of_pair()};
  else
    operand.value = Register{reg.index};
  return operand;
}

std::uint32_t Parser::parse_second_of_pair() {
  const Token name = reader_.expect_identifier("a register behind '|'");
  if (name.text == "_") return kNoRegister;
  const Binding* binding = find_name(name.text);
  if (!binding || binding->kind != Binding::Kind::register_) fail_unknown_name(name, "a register");
  return binding->index;
}

Operand Parser::parse_special_register(const Token& name) {
  std::string full(name.text);
  if (reader_.peek().kind == Token::Kind::directive) full += reader_.take().text;
  if (const auto special = special_register_named(full)) {
    Operand operand;
    operand.value = *special;
    return operand;
  }
  if (is_unsupported_special_register(full))
    reader_.fail(name.where, "softgpu does not have the special register '" + full + "'",
                 Diagnostic::Cause::unsupported);
  fail_unknown_name(name, "a register, variable or function");
}

// name[3]: the element's address.
std::int64_t Parser::parse_index(const Symbol& symbol) {
  const Location where = reader_.take().where;
  const Variable* variable = symbol.kind == Symbol::Kind::module_variable     ? &module_.variables[symbol.index]
                             : symbol.kind == Symbol::Kind::function_variable ? &function().variables[symbol.index]
                                                                              : nullptr;
  if (!variable) reader_.fail(where, "'" + symbol.name + "' is not an array");
  if (!starts_constant(reader_.peek()))
    reader_.fail(reader_.peek().where, "softgpu does not index arrays with a register; compute the address",
                 Diagnostic::Cause::unsupported);
  const std::uint64_t index = read_count(reader_, "the index of an array", 0x7fffffff);
  reader_.expect("]", "behind the index");
  return static_cast<std::int64_t>(index * ((bits(variable->type) + 7) / 8));
}

void Parser::fail_unknown_name(const Token& name, std::string_view what) {
  const Binding* binding = find_name(name.text);
  if (binding) reader_.fail(name.where, "'" + std::string(name.text) + "' is not " + std::string(what));
  reader_.fail(name.where,
               "'" + std::string(name.text) + "' is not declared" + did_you_mean(name.text, visible_names()));
}

}  // namespace softgpu::ptx
