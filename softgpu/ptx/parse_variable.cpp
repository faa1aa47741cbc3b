// Declarations of variables in all state spaces.
#include "softgpu/ptx/parser.hpp"
#include "softgpu/ptx/suggest.hpp"

namespace softgpu::ptx {
namespace {

constexpr std::uint64_t kLargestVariable = std::uint64_t{1} << 40;
constexpr std::uint64_t kLargestConstant = 65536;
constexpr std::uint64_t kMostRegisters = 1'000'000;

}  // namespace

void Parser::parse_variables(Linkage linkage) {
  const Declaration declaration = parse_declaration(linkage);
  do parse_variable(declaration);
  while (reader_.accept(","));
  reader_.expect(";", "behind the declaration");
}

Parser::Declaration Parser::parse_declaration(Linkage linkage) {
  Declaration declaration;
  declaration.linkage = linkage;
  declaration.where = reader_.peek().where;
  const Token space = reader_.expect_directive("a state space such as .global");
  declaration.space = *space_named(space.text);
  bool has_type = false;
  while (reader_.peek().kind == Token::Kind::directive) parse_declaration_word(declaration, has_type);
  if (!has_type) reader_.fail_at_next("a type such as .b32");
  return declaration;
}

void Parser::parse_declaration_word(Declaration& declaration, bool& has_type) {
  const Token word = reader_.peek();
  if (word.text == ".align") {
    declaration.alignment = parse_alignment();
  } else if (word.text == ".attribute") {
    parse_attributes(declaration.managed);
  } else if (word.text == ".v2" || word.text == ".v4" || word.text == ".v8") {
    declaration.width = static_cast<std::uint8_t>(word.text[2] - '0');
    reader_.take();
  } else if (word.text == ".texref" || word.text == ".samplerref" || word.text == ".surfref") {
    reader_.fail(word.where, "softgpu does not run '" + std::string(word.text) + "' (textures and surfaces)",
                 Diagnostic::Cause::unsupported);
  } else {
    if (has_type) reader_.fail_at_next("a name");
    declaration.type = parse_type("a type such as .b32");
    has_type = true;
    if (declaration.type == Type::pred)
      reader_.fail(word.where, "a variable can't have the type .pred; only registers can");
  }
}

// .attribute(.managed), .attribute(.unified(…, …))
void Parser::parse_attributes(bool& managed) {
  reader_.take();
  reader_.expect("(", "behind '.attribute'");
  do {
    const Token attribute = reader_.expect_directive("an attribute such as .managed");
    if (attribute.text == ".managed") {
      managed = true;
    } else if (attribute.text == ".unified") {
      reader_.expect("(", "behind '.unified'");
      do read_constant(reader_);
      while (reader_.accept(","));
      reader_.expect(")", "behind the identifier");
    } else {
      reader_.fail(attribute.where, "unknown attribute '" + std::string(attribute.text) + "'");
    }
  } while (reader_.accept(","));
  reader_.expect(")", "behind the attributes");
}

std::uint32_t Parser::parse_alignment() {
  reader_.take();
  const Location where = reader_.peek().where;
  const std::uint64_t alignment = read_count(reader_, "an alignment", std::uint64_t{1} << 20);
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) reader_.fail(where, "an alignment must be a power of two");
  return static_cast<std::uint32_t>(alignment);
}

Type Parser::parse_type(std::string_view what) {
  const Token word = reader_.expect_directive(what);
  const auto type = type_named(word.text);
  if (!type) {
    static const std::vector<std::string_view> names = {".pred", ".b8",    ".b16", ".b32", ".b64",  ".b128",  ".u8",
                                                        ".u16",  ".u32",   ".u64", ".s8",  ".s16",  ".s32",   ".s64",
                                                        ".f16",  ".f16x2", ".f32", ".f64", ".bf16", ".bf16x2"};
    reader_.fail(word.where, "unknown type '" + std::string(word.text) + "'" + did_you_mean(word.text, names));
  }
  return *type;
}

void Parser::parse_variable(const Declaration& declaration) {
  const Token name = reader_.expect_identifier("the name of the variable");
  Variable variable;
  variable.name = name.text;
  variable.space = declaration.space;
  variable.type = declaration.type;
  variable.linkage = declaration.linkage;
  variable.managed = declaration.managed;
  variable.where = name.where;
  const std::uint32_t element = bytes_of(declaration.type) * declaration.width;
  variable.alignment = declaration.alignment != 0 ? declaration.alignment : element;

  bool first_is_open = false;
  std::vector<std::uint64_t> dimensions = parse_dimensions(first_is_open);
  if (declaration.width > 1) dimensions.push_back(declaration.width);
  if (reader_.at("=")) {
    const Token equals = reader_.take();
    if (declaration.space != Space::global && declaration.space != Space::const_)
      reader_.fail(equals.where,
                   "a variable in " + std::string(spelling(declaration.space)) + " can't have an initial value");
    parse_initializer(variable, dimensions, first_is_open);
  } else {
    std::uint64_t count = 1;
    for (std::uint64_t dimension : dimensions) count *= dimension;
    variable.size = first_is_open ? 0 : count * bytes_of(declaration.type);
    const bool may_be_open = declaration.linkage == Linkage::external || declaration.space == Space::param;
    if (first_is_open && !may_be_open)
      reader_.fail(name.where, "the array '" + variable.name + "' needs a size; only an .extern array can do without");
  }
  if (declaration.space == Space::const_ && variable.size > kLargestConstant)
    reader_.fail(name.where, "'" + variable.name + "' is too large for .const, which has 65536 bytes");
  declare_variable(std::move(variable), name);
}

// [4][8], [] for the first.
std::vector<std::uint64_t> Parser::parse_dimensions(bool& first_is_open) {
  std::vector<std::uint64_t> dimensions;
  std::uint64_t total = 1;
  while (reader_.at("[")) {
    const Token open = reader_.take();
    if (reader_.accept("]")) {
      if (!dimensions.empty()) reader_.fail(open.where, "only the first dimension of an array can be left out");
      first_is_open = true;
      dimensions.push_back(0);
      continue;
    }
    const Location where = reader_.peek().where;
    const std::uint64_t size = read_count(reader_, "the size of an array", kLargestVariable);
    reader_.expect("]", "behind the size of the array");
    if (size != 0 && total > kLargestVariable / size) reader_.fail(where, "the array is too large");
    total *= size != 0 ? size : 1;
    dimensions.push_back(size);
    constexpr std::size_t kMostDimensions = 32;
    if (dimensions.size() > kMostDimensions) reader_.fail(where, "an array can have 32 dimensions");
  }
  return dimensions;
}

void Parser::declare_variable(Variable variable, const Token& name) {
  const bool local = in_function() && variable.space != Space::global && variable.space != Space::const_;
  if (!in_function() && (variable.space == Space::local || variable.space == Space::param))
    reader_.fail(name.where,
                 "a variable in " + std::string(spelling(variable.space)) + " must be declared in a function");
  std::vector<Variable>& list = local ? function().variables : module_.variables;
  const auto note_relocations = [&](std::uint32_t index) {
    for (std::uint32_t i = 0; i < variable.relocations.size(); ++i)
      pending_relocations_.push_back({local, function_index_, index, i, variable.where});
  };

  // An .extern declaration and the definition are one variable, also when the declaration is in a function.
  Scope& scope = !local && variable.linkage == Linkage::external ? scopes_.front() : scopes_.back();
  if (const Binding* earlier = scope.find(name.text);
      !local && earlier && earlier->kind == Binding::Kind::module_variable) {
    Variable& known = list[earlier->index];
    if (known.linkage == Linkage::external || variable.linkage == Linkage::external) {
      if (known.space != variable.space || (known.size != variable.size && known.size != 0 && variable.size != 0))
        reader_.fail(name.where,
                     "'" + variable.name + "' was declared differently in line " + std::to_string(known.where.line));
      if (known.linkage != Linkage::external) return;
      note_relocations(earlier->index);
      known = std::move(variable);
      return;
    }
  }
  const auto index = static_cast<std::uint32_t>(list.size());
  declare(name.text, {local ? Binding::Kind::function_variable : Binding::Kind::module_variable, 1, index, name.where},
          scope);
  note_relocations(index);
  list.push_back(std::move(variable));
}

// .reg .b32 %r<10>, %temp;
void Parser::parse_registers() {
  reader_.take();
  std::uint8_t width = 1;
  for (const std::string_view vector : {".v2", ".v4"})
    if (reader_.accept_directive(vector)) width = static_cast<std::uint8_t>(vector[2] - '0');
  const Type type = parse_type("the type of the registers");
  do {
    const Token name = reader_.expect_identifier("the name of a register");
    if (reader_.accept("<")) {
      const Location where = reader_.peek().where;
      const std::uint64_t count = reader_.expect_integer("the number of registers");
      if (count > kMostRegisters)
        reader_.fail(where, "a range can have " + std::to_string(kMostRegisters) + " registers");
      reader_.expect(">", "behind the number of registers");
      if (width > 1) reader_.fail(name.where, "a range of vector registers is not possible");
      declare_range({name.text, count, type, name.where});
    } else {
      const std::uint32_t first = add_register(name.text, type);
      for (std::uint8_t i = 1; i < width; ++i) add_register(name.text, type);
      declare(name.text, {Binding::Kind::register_, width, first, name.where});
    }
  } while (reader_.accept(","));
  reader_.expect(";", "behind the registers");
}

void Parser::declare_range(const RegisterRange& range) {
  const auto [earlier, is_new] = scopes_.back().ranges.emplace(range.prefix, range);
  if (!is_new)
    reader_.fail(range.where, "'" + std::string(range.prefix) + "<" + std::to_string(range.count) +
                                  ">' declares registers again that line " +
                                  std::to_string(earlier->second.where.line) + " has declared");
}

std::uint32_t Parser::add_register(std::string_view name, Type type) {
  std::vector<RegisterInfo>& registers = function().registers;
  registers.push_back({std::string(name), type});
  return static_cast<std::uint32_t>(registers.size() - 1);
}

}  // namespace softgpu::ptx
