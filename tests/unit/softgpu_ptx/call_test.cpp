#include "tests/unit/softgpu_ptx/ptx_text.hpp"

namespace softgpu::ptx {
namespace {

TEST(Call, HasResultsAndArguments) {
  const Function kernel = parsed_kernel(
      "{ .param .b32 argument; .param .b32 result; st.param.b32 [argument], %r1;"
      "call.uni (result), twice, (argument); ld.param.b32 %r2, [result]; }");
  ASSERT_EQ(kernel.body.size(), 4u);
  const Instruction& instruction = kernel.body[1];
  ASSERT_TRUE(instruction.call);
  EXPECT_TRUE(instruction.has(Modifier::uni));
  EXPECT_EQ(std::get<Symbol>(instruction.call->callee).name, "twice");
  ASSERT_EQ(instruction.call->arguments.size(), 1u);
  const Symbol& argument = std::get<Symbol>(std::get<Address>(instruction.call->arguments[0].value).base);
  EXPECT_EQ(argument.kind, Symbol::Kind::function_variable);
  EXPECT_EQ(kernel.variables[argument.index].name, "argument");
}

TEST(Call, MayPassRegistersAndConstants) {
  EXPECT_EQ(kernel_error("call (%r1), twice, (%r2);"), "");
  EXPECT_EQ(kernel_error("call (%r1), twice, (5);"), "");
  EXPECT_EQ(kernel_error("call (_), twice, (5);"), "");
  EXPECT_EQ(first_error(std::string(kHeader) + ".func f();\n.entry k() { call f; call f, (); call.uni f; ret; }"), "");
}

TEST(Call, MayBeIndirect) {
  const Function kernel = parsed_kernel(
      "{ .param .b32 argument; .param .b32 result;\n"
      "prototype: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
      "mov.u64 %d1, twice; call (result), %d1, (argument), prototype;\n"
      "targets: .calltargets twice; call (result), %d1, (argument), targets; }");
  ASSERT_EQ(kernel.prototypes.size(), 2u);
  EXPECT_EQ(kernel.body[1].call->prototype, 0u);
  EXPECT_EQ(kernel.body[2].call->prototype, 1u);
  EXPECT_EQ(kernel.prototypes[1].parameters.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Register>(kernel.body[1].call->callee));
}

TEST(Call, MayBeRecursive) {
  const Module module =
      parsed(std::string(kHeader) + ".func (.reg .b32 %out) f(.reg .b32 %in) { call (%out), f, (%in); ret; }");
  EXPECT_EQ(std::get<Symbol>(module.functions[0].body[0].call->callee).index, 0u);
}

TEST(Call, MustMatchTheFunction) {
  EXPECT_EQ(kernel_error("call twice, (%r1);"), "line 12, column 1: error: the call has 0 results, the function 1");
  EXPECT_EQ(kernel_error("call (%r1), twice;"), "line 12, column 1: error: the call has 0 arguments, the function 1");
  EXPECT_EQ(kernel_error("call (%r1), twice, (%d2);"),
            "line 12, column 21: error: this argument has 8 bytes, the function's 'in' 4");
  EXPECT_EQ(kernel_error("call (%r1), twice, (table);"),
            "line 12, column 21: error: a call passes .param variables, registers and constants; this is none");
  EXPECT_EQ(kernel_error("call (%r1), thrice, (%r2);"),
            "line 12, column 13: error: 'thrice' is not declared; did you mean 'twice'?");
  EXPECT_EQ(kernel_error("call k;"), "line 12, column 6: error: 'k' is a kernel and can't be called");
  EXPECT_EQ(kernel_error("call table;"), "line 12, column 6: error: 'table' is not a function");
  EXPECT_EQ(kernel_error("call %d1;"),
            "line 12, column 6: error: an indirect call needs a prototype (.callprototype or .calltargets)");
  EXPECT_EQ(kernel_error("call %r1, (%r2), p;"), "line 12, column 6: error: an indirect call needs a 64-bit register");
  EXPECT_EQ(kernel_error("call (%r1), %d1, (%r2), table;"), "line 12, column 25: error: 'table' is not a prototype");
  EXPECT_EQ(kernel_error("call (%r1) twice, (%r2);"),
            "line 12, column 12: error: expected ',' between the results and the function, found 'twice'");
}

}  // namespace
}  // namespace softgpu::ptx
