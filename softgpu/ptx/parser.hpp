// The parser of a PTX module, by recursive descent. One class over several files:
//   parse_module.cpp       .version, .target, and what stands outside of functions
//   parse_variable.cpp     declarations in all state spaces
//   parse_initializer.cpp  initial values of variables
//   parse_function.cpp     signatures, performance directives
//   parse_body.cpp         statements, labels, scopes
//   parse_instruction.cpp  instructions and calls
//   parse_operand.cpp      operands
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "softgpu/ptx/ast.hpp"
#include "softgpu/ptx/constant.hpp"
#include "softgpu/ptx/instruction_table.hpp"
#include "softgpu/ptx/reader.hpp"
#include "softgpu/ptx/scope.hpp"

namespace softgpu::ptx {

class Parser {
 public:
  explicit Parser(std::string_view text) : reader_(text) {}

  // Whether the module is complete; else the reader has noted why not.
  bool parse();
  Reader& reader() { return reader_; }
  Module take_module() { return std::move(module_); }

 private:
  // parse_module.cpp
  void parse_header();
  void parse_version();
  void parse_target();
  void parse_address_size();
  void parse_module_statement();
  void parse_module_statement_or_skip();
  bool skip_debug_information();
  void skip_file();
  void skip_location();
  void parse_alias();
  Linkage parse_linkage();
  void resolve_relocations();

  // parse_variable.cpp
  struct Declaration {  // what stands before the names: .global .align 8 .v2 .f32
    Space space{};
    Type type{};
    std::uint8_t width = 1;
    std::uint32_t alignment = 0;  // 0: not said
    bool managed = false;
    Linkage linkage = Linkage::internal;
    Location where;
  };
  void parse_variables(Linkage linkage);
  Declaration parse_declaration(Linkage linkage);
  void parse_declaration_word(Declaration&, bool& has_type);
  void parse_attributes(bool& managed);
  void parse_variable(const Declaration&);
  std::vector<std::uint64_t> parse_dimensions(bool& first_is_open);
  void declare_variable(Variable, const Token& name);
  void parse_registers();
  std::uint32_t parse_alignment();
  Type parse_type(std::string_view what);
  void declare_range(const RegisterRange&);
  std::uint32_t add_register(std::string_view name, Type);

  // parse_initializer.cpp
  void parse_initializer(Variable&, std::vector<std::uint64_t>& dimensions, bool first_is_open);
  friend class InitializerReader;

  // parse_function.cpp
  void parse_function(Linkage linkage);
  std::vector<Parameter> parse_parameters(bool is_kernel, std::string_view owner);
  Parameter parse_parameter(bool is_kernel);
  void parse_performance_directives(Function&);
  void parse_extents(std::uint32_t (&extents)[3], std::string_view directive);
  void check_parameter_block(Function&);
  std::uint32_t declare_function(Function, const Token& name);
  void check_same_signature(const Function& earlier, const Function& later);
  void bind_parameters();

  // parse_body.cpp
  void parse_body();
  void parse_statement();
  void parse_directive_statement();
  void parse_label(const Token& name);
  void parse_branch_targets(const Token& name);
  void parse_prototype(const Token& name);
  void parse_call_targets(const Token& name);
  void open_scope(Location);
  void close_scope();
  void resolve_label(const LabelUse&, std::uint32_t label);

  // parse_instruction.cpp
  void parse_instruction(const Token& opcode, std::optional<Guard> guard);
  Guard parse_guard();
  std::string_view take_instruction_text(const Token& opcode);
  const InstructionForm& find_form(std::string_view text);
  void parse_operands(Instruction&, const InstructionForm&);
  void parse_texture_operands(Instruction&, const std::vector<OperandRule>&);
  void parse_plain_operands(Instruction&, const std::vector<OperandRule>&);
  void refuse_parts_of_operand(const Instruction& instruction);
  Call parse_call(Location);
  std::variant<Symbol, Register> parse_callee(const Token& name);
  std::uint32_t parse_prototype_use();
  std::vector<Operand> parse_call_list(std::string_view what);
  void check_call_values(Location, const std::vector<Operand>& values, const std::vector<Parameter>& parameters,
                         std::string_view what);
  std::uint64_t size_of_call_value(const Operand&, std::uint64_t wanted);

  // parse_operand.cpp
  Operand parse_operand(OperandRule::Kind);
  Operand parse_negated();
  Operand parse_label_use(std::uint32_t operand_index);
  Operand parse_vector();
  Operand parse_address();
  void parse_texture_address(std::vector<Operand>&, bool has_coordinates);
  Operand parse_named(const Token& name);
  Operand parse_register(const Token& name, const Binding&);
  std::uint32_t parse_second_of_pair();
  Operand parse_special_register(const Token& name);
  std::variant<std::monostate, Register, Symbol> parse_base(const Token& name);
  std::int64_t parse_offset();
  std::int64_t parse_index(const Symbol&);
  Symbol symbol_of(const Token& name, const Binding&) const;
  [[noreturn]] void fail_unknown_name(const Token& name, std::string_view what);

  // Names, from the innermost scope out. A register of a range comes into being here.
  const Binding* find_name(std::string_view name);
  void declare(std::string_view name, Binding binding) { declare(name, binding, scopes_.back()); }
  void declare(std::string_view name, Binding, Scope&);
  std::vector<std::string_view> visible_names() const;
  Function& function() { return module_.functions[function_index_]; }
  bool in_function() const { return scopes_.size() > 1; }

  Reader reader_;
  Module module_;
  std::vector<Scope> scopes_ = std::vector<Scope>(1);  // the module's first
  std::uint32_t function_index_ = kNoFunction;
  std::vector<LabelUse> statement_label_uses_;
  std::unordered_map<std::string_view, InstructionForm> forms_;
  std::deque<std::string> joined_texts_;  // opcodes that were written with blanks inside
  struct PendingRelocation {
    bool in_function = false;
    std::uint32_t function = 0, variable = 0, relocation = 0;
    Location where;
  };
  std::vector<PendingRelocation> pending_relocations_;
};

// Checks operands against a row of the table and brings constants to their operand's type.
struct OperandProblem {
  Location where;
  std::string message;
  std::size_t operand = 0;
};
std::optional<OperandProblem> check_operands(const InstructionRow&, Instruction&, const Module&, const Function&);

}  // namespace softgpu::ptx
