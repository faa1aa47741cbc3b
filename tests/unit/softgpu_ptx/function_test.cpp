// Kernels and device functions: heads, scopes, labels.
#include "softgpu/ptx/parameter_layout.hpp"
#include "tests/unit/softgpu_ptx/ptx_text.hpp"

namespace softgpu::ptx {
namespace {

std::string module_error(std::string_view text) { return first_error(std::string(kHeader) + std::string(text)); }
Function function(std::string_view text) {
  Module module = parsed(std::string(kHeader) + std::string(text));
  return module.functions.empty() ? Function{} : std::move(module.functions.front());
}

TEST(Kernel, LaysOutItsParameters) {
  const Function kernel = function(
      ".visible .entry k(.param .u8 a, .param .u32 b, .param .u64 .ptr .global .align 16 c, .param .align 16 .b8 "
      "d[20], .param .f32 e)"
      "{ ret; }");
  ASSERT_EQ(kernel.parameters.size(), 5u);
  const std::uint64_t offsets[] = {0, 4, 8, 16, 36};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(kernel.parameters[i].offset, offsets[i]) << i;
  EXPECT_EQ(kernel.parameter_bytes, 40u);
  EXPECT_EQ(kernel.parameters[3].alignment, 16u);
  EXPECT_EQ(kernel.parameters[3].size, 20u);
  EXPECT_TRUE(kernel.parameters[3].is_array);
  EXPECT_FALSE(kernel.parameters[1].is_array);
  EXPECT_TRUE(kernel.is_kernel);
  EXPECT_EQ(kernel.linkage, Linkage::visible);
}

// What ptxas of CUDA 13.0 says (EIATTR_KPARAM_INFO).
TEST(Kernel, AlignsItsParametersByWhereTheDeviceHasThem) {
  Function kernel = function(
      ".visible .entry k(.param .u32 a, .param .align 128 .b8 b[128], .param .u32 c, .param .align 16 .b8 d[16], "
      ".param .align 32 .b8 e[4], .param .u8 f) { ret; }");
  const auto offsets = [&](unsigned compute_capability) {
    lay_out_parameters(kernel, parameter_base(compute_capability));
    std::vector<std::uint64_t> found;
    for (const Parameter& parameter : kernel.parameters) found.push_back(parameter.offset);
    found.push_back(kernel.parameter_bytes);
    return found;
  };
  using Offsets = std::vector<std::uint64_t>;
  for (const unsigned older : {75U, 80U, 86U, 89U})
    EXPECT_EQ(offsets(older), (Offsets{0, 32, 160, 176, 192, 196, 197}));
  EXPECT_EQ(offsets(90), (Offsets{0, 112, 240, 256, 272, 276, 277}));
  for (const unsigned newer : {100U, 120U}) EXPECT_EQ(offsets(newer), (Offsets{0, 128, 256, 272, 288, 292, 293}));
  EXPECT_FALSE(lay_out_parameters(kernel, parameter_base(90)));
  EXPECT_TRUE(lay_out_parameters(kernel, parameter_base(90)));
}

TEST(Kernel, MayHaveNoParameters) {
  EXPECT_EQ(function(".entry k { ret; }").parameter_bytes, 0u);
  EXPECT_EQ(function(".entry k() { ret; }").parameter_bytes, 0u);
}

TEST(Kernel, KeepsPerformanceDirectives) {
  const Function kernel = function(
      ".entry k() .maxntid 256, 2 .reqntid 32,4,1 .minnctapersm 3 .maxnreg 64 .maxclusterrank 8 .reqnctapercluster 2 "
      ".explicitcluster .pragma \"x\"; { ret; }");
  EXPECT_EQ(kernel.max_threads[0], 256u);
  EXPECT_EQ(kernel.max_threads[1], 2u);
  EXPECT_EQ(kernel.max_threads[2], 1u);
  EXPECT_EQ(kernel.required_threads[1], 4u);
  EXPECT_EQ(kernel.min_blocks_per_multiprocessor, 3u);
  EXPECT_EQ(kernel.max_registers, 64u);
  EXPECT_EQ(kernel.max_cluster_rank, 8u);
  EXPECT_EQ(kernel.required_cluster[0], 2u);
  EXPECT_TRUE(kernel.explicit_cluster);
}

TEST(Kernel, SaysWhatIsWrongInItsHead) {
  EXPECT_EQ(module_error(".entry (){}"), "line 4, column 8: error: expected the name of the kernel, found '('");
  EXPECT_EQ(module_error(".entry k(.param a){}"), "line 4, column 17: error: expected the parameter's type, found 'a'");
  EXPECT_EQ(module_error(".entry k(.reg .u32 a){}"), "line 4, column 10: error: expected '.param', found '.reg'");
  EXPECT_EQ(module_error(".entry k(.param .u32 a{}"),
            "line 4, column 23: error: expected ')' behind the parameters, found '{'");
  EXPECT_EQ(module_error(".entry k() .maxtid 3 {}"),
            "line 4, column 12: error: unknown directive '.maxtid' behind the function's head");
  EXPECT_EQ(module_error(".entry k() .maxntid 1,1,1,1 {}"),
            "line 4, column 21: error: '.maxntid' takes up to three numbers");
  EXPECT_EQ(module_error(".entry k(.param .b8 a[40000]) {}"),
            "line 4, column 21: error: the parameters of 'k' take more than 32764 bytes");
  EXPECT_EQ(module_error(".entry k(.param .u32 a, .param .u32 a) {}"),
            "line 4, column 37: error: 'a' is declared twice; the first time in line 4");
  EXPECT_EQ(module_error(".entry k() {}\n.entry k() {}"),
            "line 5, column 8: error: 'k' is defined twice; the first time in line 4");
}

TEST(DeviceFunction, HasResultsAndParameters) {
  const Function f =
      function(".func (.param .b32 out, .reg .u64 %o2) f(.reg .f32 %x, .param .align 8 .b8 s[16]) .noreturn { ret; }");
  ASSERT_EQ(f.results.size(), 2u);
  EXPECT_TRUE(f.results[1].is_register);
  ASSERT_LT(f.results[1].register_index, f.registers.size());
  EXPECT_EQ(f.registers[f.results[1].register_index].name, "%o2");
  EXPECT_EQ(f.registers[f.parameters[0].register_index].type, Type::f32);
  EXPECT_EQ(f.parameters[1].size, 16u);
  EXPECT_TRUE(f.noreturn);
  EXPECT_FALSE(f.is_kernel);
}

TEST(DeviceFunction, MayBeDeclaredBeforeItIsDefined) {
  const Module module = parsed(
      std::string(kHeader) +
      ".visible .func (.param .b32 r) f(.param .b64 a);\n.visible .func (.param .b32 r) f(.param .b64 a) { ret; }");
  ASSERT_EQ(module.functions.size(), 1u);
  EXPECT_TRUE(module.functions[0].is_definition);
  EXPECT_FALSE(function(".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);").is_definition);
  EXPECT_EQ(module_error(".func f(.param .b64 a);\n.func f(.param .b32 a) { ret; }"),
            "line 5, column 7: error: 'f' was declared with other parameters in line 4");
  EXPECT_EQ(module_error(".global .u32 f;\n.func f() { ret; }"),
            "line 5, column 7: error: 'f' is already a variable, from line 4");
}

TEST(Registers, OfARangeComeIntoBeingWhenUsed) {
  const Function kernel =
      function(".entry k() { .reg .b32 %r<1000000>; mov.b32 %r999999, 1; mov.b32 %r3, %r999999; ret; }");
  ASSERT_EQ(kernel.registers.size(), 2u);
  EXPECT_EQ(kernel.registers[0].name, "%r999999");
  EXPECT_EQ(std::get<Register>(kernel.body[1].operands[1].value).index, 0u);
}

TEST(Registers, MustBeDeclaredOnce) {
  EXPECT_EQ(module_error(".entry k() { mov.b32 %r1, 1; }"), "line 4, column 22: error: '%r1' is not declared");
  EXPECT_EQ(module_error(".entry k() { .reg .b32 %r<3>; mov.b32 %r3, 1; }"),
            "line 4, column 39: error: '%r3' is not declared");
  EXPECT_EQ(module_error(".entry k() { .reg .b32 %r<3>; mov.b32 %r01, 1; }"),
            "line 4, column 39: error: '%r01' is not declared");
  EXPECT_EQ(module_error(".entry k() { .reg .b32 %r<3>;\n.reg .b32 %r<4>; }"),
            "line 5, column 11: error: '%r<4>' declares registers again that line 4 has declared");
  EXPECT_EQ(module_error(".entry k() { .reg .b32 %r<3>;\n.reg .b32 %r2; }"),
            "line 5, column 11: error: '%r2' is declared twice; the first time in line 4");
  EXPECT_EQ(module_error(".entry k() { .reg .b32 %r<9999999999>; }"),
            "line 4, column 27: error: a range can have 1000000 registers");
  EXPECT_EQ(module_error(".entry k() { .reg .b32 %sum; mov.b32 %sun, 1; }"),
            "line 4, column 38: error: '%sun' is not declared; did you mean '%sum'?");
}

TEST(Scope, HidesAndEndsNames) {
  const Function kernel = parsed_kernel("{ .reg .u64 %r1; mov.u64 %r1, 1; { mov.u64 %r1, 2; } } mov.u32 %r1, 3;");
  ASSERT_EQ(kernel.body.size(), 4u);
  const auto inner = std::get<Register>(kernel.body[0].operands[0].value).index;
  EXPECT_EQ(std::get<Register>(kernel.body[1].operands[0].value).index, inner);
  const auto outer = std::get<Register>(kernel.body[2].operands[0].value).index;
  EXPECT_NE(inner, outer);
  EXPECT_EQ(kernel.registers[inner].type, Type::u64);
  EXPECT_EQ(kernel.registers[outer].type, Type::u32);
  EXPECT_EQ(kernel_error("{ .reg .u32 %inner; } mov.u32 %inner, 1;"),
            "line 12, column 31: error: '%inner' is not declared");
}

TEST(Label, IsKnownBeforeItStands) {
  const Function kernel = parsed_kernel("start: bra end; @%p1 bra start; end:");
  ASSERT_EQ(kernel.labels.size(), 2u);
  EXPECT_EQ(kernel.labels[0].name, "start");
  EXPECT_EQ(kernel.labels[0].target, 0u);
  EXPECT_EQ(kernel.labels[1].target, 2u);
  const Symbol& symbol = std::get<Symbol>(std::get<Address>(kernel.body[0].operands[0].value).base);
  EXPECT_EQ(symbol.kind, Symbol::Kind::label);
  EXPECT_EQ(symbol.index, 1u);
}

TEST(Label, BelongsToItsBlock) {
  const Function kernel = parsed_kernel("{ again: bra again; } { again: bra again; bra outside; } outside:");
  ASSERT_EQ(kernel.labels.size(), 3u);
  const auto target = [&](std::size_t i) {
    return std::get<Symbol>(std::get<Address>(kernel.body[i].operands[0].value).base).index;
  };
  EXPECT_EQ(target(0), 0u);
  EXPECT_EQ(target(1), 1u);
  EXPECT_EQ(target(2), 2u);
  EXPECT_EQ(kernel_error("{ inside: } bra inside;"), "line 12, column 17: error: there is no label 'inside'");
}

TEST(Label, SaysWhatIsWrong) {
  EXPECT_EQ(kernel_error("loop: bra lop;"), "line 12, column 11: error: there is no label 'lop'; did you mean 'loop'?");
  EXPECT_EQ(kernel_error("a:\na:"),
            "line 13, column 1: error: the label 'a' is there twice; the first time in line 12");
  EXPECT_EQ(kernel_error("bra 5;"), "line 12, column 5: error: expected a label, found '5'");
}

TEST(BranchTargets, AreAListOfLabels) {
  const Function kernel = parsed_kernel("ts: .branchtargets a, b, a; brx.idx.uni %r1, ts; a: b:");
  ASSERT_EQ(kernel.branch_targets.size(), 1u);
  ASSERT_EQ(kernel.branch_targets[0].labels.size(), 3u);
  EXPECT_EQ(kernel.branch_targets[0].labels[1].index, 1u);
  EXPECT_EQ(kernel.branch_targets[0].labels[2].kind, Symbol::Kind::label);
  const Symbol& targets = std::get<Symbol>(std::get<Address>(kernel.body[0].operands[1].value).base);
  EXPECT_EQ(targets.kind, Symbol::Kind::branch_targets);
  EXPECT_EQ(kernel_error("ts: .branchtargets a;"), "line 12, column 20: error: there is no label 'a'");
  EXPECT_EQ(kernel_error("brx.idx %r1, table;"),
            "line 12, column 14: error: expected the name of a .branchtargets list");
}

TEST(Body, ThatDoesNotEndIsNoted) {
  EXPECT_EQ(module_error(".entry k() { ret;"), "line 4, column 18: error: the text ends inside 'k': '}' is missing");
  EXPECT_EQ(module_error(".entry k() { ret;\n.entry g() { ret; }"),
            "line 5, column 1: error: '.entry' inside of 'k': is a '}' missing before it?");
  EXPECT_EQ(kernel_error(".rge .u32 %x;"), "line 12, column 1: error: unknown directive '.rge'; did you mean '.reg'?");
  EXPECT_EQ(kernel_error("5;"), "line 12, column 1: error: expected an instruction, a label or a directive, found '5'");
}

}  // namespace
}  // namespace softgpu::ptx
