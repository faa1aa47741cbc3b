// Instructions: opcode, operands, and calls, whose operands have a form of their own.
#include <algorithm>
#include <memory>

#include "softgpu/ptx/parser.hpp"

namespace softgpu::ptx {
namespace {

constexpr std::size_t kLongestInstructionText = 200;

}  // namespace

// @p or @!p
Guard Parser::parse_guard() {
  reader_.take();
  Guard guard;
  guard.negated = reader_.accept("!");
  const Token name = reader_.expect_identifier("a predicate register behind '@'");
  const Binding* binding = find_name(name.text);
  if (!binding || binding->kind != Binding::Kind::register_) fail_unknown_name(name, "a predicate register");
  guard.predicate.index = binding->index;
  const Type type = function().registers[binding->index].type;
  if (type != Type::pred)
    reader_.fail(name.where, "'" + std::string(name.text) + "' is a " + std::string(spelling(type)) +
                                 " register; '@' needs a .pred one");
  return guard;
}

void Parser::parse_instruction(const Token& opcode, std::optional<Guard> guard) {
  const std::string_view text = take_instruction_text(opcode);
  const InstructionForm& form = find_form(text);
  if (form.rows.empty()) {
    Location where = opcode.where;
    where.column += static_cast<std::uint32_t>(form.problem_offset);
    reader_.fail(where, form.problem, form.cause);
  }
  Instruction instruction = form.prototype;
  instruction.guard = guard;
  instruction.where = opcode.where;
  if (instruction.opcode == Opcode::call)
    instruction.call = std::make_shared<Call>(parse_call(opcode.where));
  else
    parse_operands(instruction, form);
  reader_.expect(";", "behind the instruction");
  function().body.push_back(std::move(instruction));
}

// The opcode with its suffixes, which usually follow without blanks.
std::string_view Parser::take_instruction_text(const Token& opcode) {
  const std::string_view suffixes = reader_.take_suffixes();
  std::string_view text(opcode.text.data(), opcode.text.size() + suffixes.size());
  if (reader_.peek().kind == Token::Kind::directive) {
    std::string& joined = joined_texts_.emplace_back(text);
    while (reader_.peek().kind == Token::Kind::directive && joined.size() < kLongestInstructionText) {
      joined += reader_.take().text;
      joined += reader_.take_suffixes();
    }
    text = joined;
  }
  if (text.size() > kLongestInstructionText)
    reader_.fail(opcode.where, "unknown instruction '" + std::string(text.substr(0, 60)) + "…'");
  return text;
}

// Matching is done once for each spelling.
const InstructionForm& Parser::find_form(std::string_view text) {
  const auto found = forms_.find(text);
  if (found != forms_.end()) return found->second;
  return forms_.emplace(text, match_instruction(text)).first->second;
}

void Parser::parse_operands(Instruction& instruction, const InstructionForm& form) {
  const std::vector<OperandRule>& rules = form.rows.front()->rules;
  instruction.operands.reserve(rules.size());
  if (std::any_of(rules.begin(), rules.end(), [](const OperandRule& rule) { return rule.in_brackets; }))
    parse_texture_operands(instruction, rules);
  else if (!reader_.at(";"))
    parse_plain_operands(instruction, rules);
  std::optional<OperandProblem> worst;
  for (const InstructionRow* row : form.rows) {
    std::optional<OperandProblem> problem = check_operands(*row, instruction, module_, function());
    if (!problem) return;
    if (!worst || problem->operand > worst->operand) worst = std::move(problem);
  }
  reader_.fail(worst->where, worst->message);
}

namespace {

bool is_video(Opcode opcode) {
  constexpr Opcode kVideo[] = {Opcode::vadd2,     Opcode::vadd4,     Opcode::vsub2,  Opcode::vsub4,
                               Opcode::vabsdiff2, Opcode::vmin2,     Opcode::vmin4,  Opcode::vmax2,
                               Opcode::vmax4,     Opcode::vabsdiff4, Opcode::vavrg2, Opcode::vavrg4};
  return std::find(std::begin(kVideo), std::end(kVideo), opcode) != std::end(kVideo);
}

}  // namespace

void Parser::parse_plain_operands(Instruction& instruction, const std::vector<OperandRule>& rules) {
  do {
    const std::size_t index = instruction.operands.size();
    const OperandRule::Kind kind = index < rules.size() ? rules[index].kind : OperandRule::Kind::value;
    if (kind == OperandRule::Kind::label)
      instruction.operands.push_back(parse_label_use(static_cast<std::uint32_t>(index)));
    else
      instruction.operands.push_back(parse_operand(kind));
    if (is_video(instruction.opcode)) refuse_parts_of_operand(instruction);
  } while (reader_.accept(","));
}

// Video instructions can mask the parts of the result, and choose from those of a source: vadd4.u32.u32.u32 d.b20,
// a.b0123, …
void Parser::refuse_parts_of_operand(const Instruction& instruction) {
  const Token& next = reader_.peek();
  if (next.kind != Token::Kind::directive) return;
  reader_.fail(instruction.where,
               "softgpu does not run '" + std::string(instruction.text) + "' (parts of operands: '" +
                   std::string(next.text) + "')",
               Diagnostic::Cause::unsupported);
}

// A result, where there is one, perhaps with |p behind it; a texture or surface; and the rest.
void Parser::parse_texture_operands(Instruction& instruction, const std::vector<OperandRule>& rules) {
  if (rules.front().destination) {
    instruction.operands.push_back(parse_operand(OperandRule::Kind::value));
    if (reader_.accept("|")) instruction.operands.push_back(parse_operand(OperandRule::Kind::value));
    reader_.expect(",", "behind the result");
  }
  const auto coordinates = std::find_if(
      rules.begin(), rules.end(), [](const OperandRule& rule) { return rule.kind == OperandRule::Kind::coordinates; });
  parse_texture_address(instruction.operands, coordinates != rules.end());
  // What follows of the row; tex and tld4 may have two more.
  auto left = coordinates == rules.end() ? 0 : rules.end() - coordinates - 1;
  const bool samples = instruction.opcode == Opcode::tex || instruction.opcode == Opcode::tld4;
  while (reader_.accept(",")) {
    if (samples && left-- == 0)
      reader_.fail(reader_.peek().where,
                   "softgpu does not run '" + instruction.text + "' with an offset or a depth to compare with",
                   Diagnostic::Cause::unsupported);
    instruction.operands.push_back(parse_operand(OperandRule::Kind::value));
  }
}

// call (results), callee, (arguments), prototype; all but the callee may be left out.
Call Parser::parse_call(Location where) {
  Call call;
  if (reader_.at("(")) {
    call.results = parse_call_list("results");
    reader_.expect(",", "between the results and the function");
  }
  const Token name = reader_.expect_identifier("the function to call");
  call.callee = parse_callee(name);
  bool more = reader_.accept(",");
  if (more && reader_.at("(")) {
    call.arguments = parse_call_list("arguments");
    more = reader_.accept(",");
  }
  if (more) call.prototype = parse_prototype_use();

  if (const auto* symbol = std::get_if<Symbol>(&call.callee)) {
    const Function& target = module_.functions[symbol->index];
    check_call_values(where, call.results, target.results, "result");
    check_call_values(where, call.arguments, target.parameters, "argument");
    return call;
  }
  if (call.prototype == kNoRegister)
    reader_.fail(name.where, "an indirect call needs a prototype (.callprototype or .calltargets)");
  const Prototype& prototype = function().prototypes[call.prototype];
  check_call_values(where, call.results, prototype.results, "result");
  check_call_values(where, call.arguments, prototype.parameters, "argument");
  return call;
}

std::variant<Symbol, Register> Parser::parse_callee(const Token& name) {
  const Binding* binding = find_name(name.text);
  if (!binding) fail_unknown_name(name, "a function");
  if (binding->kind == Binding::Kind::register_) {
    if (bits(function().registers[binding->index].type) != 64)
      reader_.fail(name.where, "an indirect call needs a 64-bit register");
    return Register{binding->index};
  }
  if (binding->kind != Binding::Kind::function) fail_unknown_name(name, "a function");
  if (module_.functions[binding->index].is_kernel)
    reader_.fail(name.where, "'" + std::string(name.text) + "' is a kernel and can't be called");
  return Symbol{Symbol::Kind::function, binding->index, std::string(name.text)};
}

std::uint32_t Parser::parse_prototype_use() {
  const Token name = reader_.expect_identifier("a prototype");
  const Binding* binding = find_name(name.text);
  if (!binding || binding->kind != Binding::Kind::prototype) fail_unknown_name(name, "a prototype");
  return binding->index;
}

std::vector<Operand> Parser::parse_call_list(std::string_view what) {
  reader_.expect("(", "before the " + std::string(what));
  std::vector<Operand> values;
  if (reader_.accept(")")) return values;
  do values.push_back(parse_operand(OperandRule::Kind::value));
  while (reader_.accept(","));
  reader_.expect(")", "behind the " + std::string(what));
  return values;
}

void Parser::check_call_values(Location where, const std::vector<Operand>& values,
                               const std::vector<Parameter>& parameters, std::string_view what) {
  if (values.size() != parameters.size())
    reader_.fail(where, "the call has " + std::to_string(values.size()) + " " + std::string(what) + "s, the function " +
                            std::to_string(parameters.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t wanted = parameters[i].size;
    const std::uint64_t size = size_of_call_value(values[i], wanted);
    if (size != wanted && wanted != 0)
      reader_.fail(values[i].where, "this " + std::string(what) + " has " + std::to_string(size) +
                                        " bytes, the function's '" + parameters[i].name + "' " +
                                        std::to_string(wanted));
  }
}

// Constants and _ have whatever size is wanted.
std::uint64_t Parser::size_of_call_value(const Operand& value, std::uint64_t wanted) {
  if (const auto* reg = std::get_if<Register>(&value.value))
    return (bits(function().registers[reg->index].type) + 7) / 8;
  if (std::holds_alternative<Immediate>(value.value) || std::holds_alternative<Sink>(value.value)) return wanted;
  const auto* address = std::get_if<Address>(&value.value);
  const auto* symbol = address ? std::get_if<Symbol>(&address->base) : nullptr;
  if (symbol && symbol->kind == Symbol::Kind::function_variable &&
      function().variables[symbol->index].space == Space::param)
    return function().variables[symbol->index].size;
  if (symbol && symbol->kind == Symbol::Kind::parameter) {
    const std::size_t results = function().results.size();
    return symbol->index < results ? function().results[symbol->index].size
                                   : function().parameters[symbol->index - results].size;
  }
  reader_.fail(value.where, "a call passes .param variables, registers and constants; this is none");
}

}  // namespace softgpu::ptx
