// Kernels and device functions: signatures and performance directives.
#include <algorithm>

#include "softgpu/ptx/parameter_layout.hpp"
#include "softgpu/ptx/parser.hpp"

namespace softgpu::ptx {
namespace {

constexpr std::uint64_t kLargestParameterBlock = 32764;  // of a kernel
constexpr std::uint64_t kLargestParameter = std::uint64_t{1} << 20;

}  // namespace

// .entry name (parameters) directives { body }
// .func (results) name (parameters) directives { body }, or ';' for a declaration
void Parser::parse_function(Linkage linkage) {
  Function parsed;
  parsed.linkage = linkage;
  parsed.is_kernel = reader_.take().text == ".entry";
  bool managed = false;
  if (reader_.at_directive(".attribute")) parse_attributes(managed);
  if (!parsed.is_kernel && reader_.at("(")) parsed.results = parse_parameters(false, "results");
  const Token name =
      reader_.expect_identifier(parsed.is_kernel ? "the name of the kernel" : "the name of the function");
  parsed.name = name.text;
  parsed.where = name.where;
  if (reader_.at("(")) parsed.parameters = parse_parameters(parsed.is_kernel, "parameters");
  if (parsed.is_kernel) check_parameter_block(parsed);
  parse_performance_directives(parsed);

  parsed.is_definition = reader_.at("{");
  if (!parsed.is_definition) reader_.expect(";", "or '{' behind the function's head");
  const bool has_body = parsed.is_definition;
  const std::uint32_t index = declare_function(std::move(parsed), name);
  if (!has_body) return;
  function_index_ = index;
  parse_body();
  function_index_ = kNoFunction;
}

std::vector<Parameter> Parser::parse_parameters(bool is_kernel, std::string_view owner) {
  reader_.expect("(", "before the " + std::string(owner));
  std::vector<Parameter> parameters;
  if (reader_.accept(")")) return parameters;
  do parameters.push_back(parse_parameter(is_kernel));
  while (reader_.accept(","));
  reader_.expect(")", "behind the " + std::string(owner));
  return parameters;
}

// .param .align 8 .b8 name[24], .param .u64 .ptr .global .align 4 name, .reg .b32 name
Parameter Parser::parse_parameter(bool is_kernel) {
  Parameter parameter;
  parameter.where = reader_.peek().where;
  const Token space = reader_.expect_directive("'.param' or '.reg'");
  if (space.text == ".reg" && !is_kernel)
    parameter.is_register = true;
  else if (space.text != ".param")
    reader_.fail(space.where, "expected '.param'" + std::string(is_kernel ? "" : " or '.reg'") + ", found '" +
                                  std::string(space.text) + "'");

  bool has_type = false;
  std::uint8_t width = 1;
  while (reader_.peek().kind == Token::Kind::directive) {
    if (reader_.accept_directive(".ptr")) {
      // What a pointer points to does not change how it is passed.
      if (reader_.peek().kind == Token::Kind::directive && space_named(reader_.peek().text)) reader_.take();
      if (reader_.at_directive(".align")) parse_alignment();
      continue;
    }
    Declaration declaration;
    declaration.type = parameter.type;
    declaration.alignment = parameter.alignment == 1 ? 0 : parameter.alignment;
    declaration.width = width;
    parse_declaration_word(declaration, has_type);
    parameter.type = declaration.type;
    parameter.alignment = declaration.alignment != 0 ? declaration.alignment : 1;
    width = declaration.width;
  }
  if (!has_type) reader_.fail_at_next("the parameter's type");

  const Token name = reader_.expect_identifier("the parameter's name");
  parameter.name = name.text;
  parameter.where = name.where;
  bool first_is_open = false;
  const std::vector<std::uint64_t> dimensions = parse_dimensions(first_is_open);
  parameter.is_array = !dimensions.empty() || width > 1;
  const std::uint32_t element = bytes_of(parameter.type) * width;
  parameter.alignment = std::max(parameter.alignment, element);
  parameter.size = element;
  for (std::uint64_t dimension : dimensions) parameter.size *= dimension;
  if (parameter.size > kLargestParameter)
    reader_.fail(name.where, "the parameter '" + parameter.name + "' is too large");
  if (is_kernel && first_is_open) reader_.fail(name.where, "the parameter '" + parameter.name + "' needs a size");
  return parameter;
}

void Parser::check_parameter_block(Function& kernel) {
  lay_out_parameters(kernel, 0);
  for (const Parameter& parameter : kernel.parameters) {
    if (parameter.offset + parameter.size <= kLargestParameterBlock) continue;
    reader_.fail(parameter.where, "the parameters of '" + kernel.name + "' take more than " +
                                      std::to_string(kLargestParameterBlock) + " bytes");
  }
}

void Parser::parse_performance_directives(Function& target) {
  const auto number = [this](std::string_view what) {
    return static_cast<std::uint32_t>(read_count(reader_, what, 0x7fffffff));
  };
  while (reader_.peek().kind == Token::Kind::directive) {
    const Token word = reader_.peek();
    if (word.text == ".pragma") {
      skip_debug_information();
      continue;
    }
    reader_.take();
    if (word.text == ".maxntid")
      parse_extents(target.max_threads, word.text);
    else if (word.text == ".reqntid")
      parse_extents(target.required_threads, word.text);
    else if (word.text == ".reqnctapercluster")
      parse_extents(target.required_cluster, word.text);
    else if (word.text == ".minnctapersm" || word.text == ".maxnctapersm")
      target.min_blocks_per_multiprocessor = number("the number of blocks");
    else if (word.text == ".maxnreg")
      target.max_registers = number("the number of registers");
    else if (word.text == ".maxclusterrank")
      target.max_cluster_rank = number("the size of a cluster");
    else if (word.text == ".explicitcluster")
      target.explicit_cluster = true;
    else if (word.text == ".noreturn")
      target.noreturn = true;
    else if (word.text == ".abi_preserve" || word.text == ".abi_preserve_control")
      number("the number of registers");
    else if (word.text == ".blocksareclusters")
      target.blocks_are_clusters = true;
    else if (word.text == ".unique")
      continue;
    else
      reader_.fail(word.where, "unknown directive '" + std::string(word.text) + "' behind the function's head");
  }
}

void Parser::parse_extents(std::uint32_t (&extents)[3], std::string_view directive) {
  const Location where = reader_.peek().where;
  extents[0] = extents[1] = extents[2] = 1;
  std::size_t count = 0;
  do {
    if (count == 3) reader_.fail(where, "'" + std::string(directive) + "' takes up to three numbers");
    extents[count++] = static_cast<std::uint32_t>(read_count(reader_, "an extent", 0x7fffffff));
  } while (reader_.accept(","));
}

std::uint32_t Parser::declare_function(Function later, const Token& name) {
  const Binding* binding = scopes_.front().find(name.text);
  if (!binding) {
    const auto index = static_cast<std::uint32_t>(module_.functions.size());
    declare(name.text, {Binding::Kind::function, 1, index, name.where});
    module_.functions.push_back(std::move(later));
    return index;
  }
  if (binding->kind != Binding::Kind::function)
    reader_.fail(name.where,
                 "'" + later.name + "' is already a variable, from line " + std::to_string(binding->where.line));
  Function& earlier = module_.functions[binding->index];
  check_same_signature(earlier, later);
  if (earlier.is_definition && later.is_definition)
    reader_.fail(name.where,
                 "'" + later.name + "' is defined twice; the first time in line " + std::to_string(earlier.where.line));
  if (later.is_definition) {
    if (later.linkage == Linkage::internal)
      later.linkage = earlier.linkage == Linkage::external ? Linkage::internal : earlier.linkage;
    later.noreturn |= earlier.noreturn;
    earlier = std::move(later);
  }
  return binding->index;
}

void Parser::check_same_signature(const Function& earlier, const Function& later) {
  const auto same = [](const std::vector<Parameter>& a, const std::vector<Parameter>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Parameter& x, const Parameter& y) { return x.size == y.size; });
  };
  if (earlier.is_kernel != later.is_kernel || !same(earlier.results, later.results) ||
      !same(earlier.parameters, later.parameters))
    reader_.fail(later.where, "'" + later.name + "' was declared with other parameters in line " +
                                  std::to_string(earlier.where.line));
}

// The names of results and parameters, in the function's outermost scope.
void Parser::bind_parameters() {
  std::uint32_t index = 0;
  for (std::vector<Parameter>* list : {&function().results, &function().parameters}) {
    for (Parameter& parameter : *list) {
      if (parameter.is_register) parameter.register_index = add_register(parameter.name, parameter.type);
      // The binding's name is a piece of the module's own text, which does not move while the function is parsed.
      if (parameter.name != "_") {
        if (parameter.is_register)
          declare(parameter.name, {Binding::Kind::register_, 1, parameter.register_index, parameter.where});
        else
          declare(parameter.name, {Binding::Kind::parameter, 1, index, parameter.where});
      }
      ++index;
    }
  }
}

}  // namespace softgpu::ptx
