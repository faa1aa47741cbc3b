// Texture and surface instructions: their operands have a form of their own.
#include "tests/unit/softgpu_ptx/ptx_text.hpp"

namespace softgpu::ptx {
namespace {

TEST(TextureInstruction, TakesEveryFormThatTheCompilerMakes) {
  for (const char* statement : {
           "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r1}];",
           "tex.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%f1, %f2}];",
           "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%d1, {%f1, %f2}];",
           "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2, %f3, %f3}];",
           "tex.a1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%r1, %f1}];",
           "tex.a2d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%r1, %f1, %f2, %f2}];",
           "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2, %f3, %f3}];",
           "tex.acube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%r1, %f1, %f2, %f3}];",
           "tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}], %f3;",
           "tex.level.acube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%r1, %f1, %f2, %f3}], %f3;",
           "tex.grad.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1}], {%f2}, {%f3};",
           "tex.grad.a2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%r1, %f1, %f2, %f2}], {%f1, %f2}, {%f2, %f1};",
           "tex.grad.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2, %f3, %f3}], {%f1, %f2, %f3, %f3}, {%f1, %f2, "
           "%f3, %f3};",
           "tld4.b.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}];",
           "txq.width.b32 %r1, [%d1];",
           "suld.b.2d.b32.trap {%r1}, [%d1, {%r1, %r1}];",
           "suld.b.2d.b8.zero {%h1}, [%d1, {%r1, %r1}];",
           "suld.b.1d.v2.b64.trap {%d1, %d2}, [%d1, {%r1}];",
           "suld.b.3d.v4.b16.clamp {%h1, %h2, %h3, %h4}, [%d1, {%r1, %r1, %r1, %r1}];",
           "sust.b.a1d.b32.trap [%d1, {%r1, %r1}], {%r1};",
           "sust.b.2d.v4.b8.zero [%d1, {%r1, %r1}], {%h1, %h2, %h3, %h4};",
           "suq.height.b32 %r1, [%d1];",
       })
    EXPECT_EQ(kernel_error(statement), "") << statement;
}

TEST(TextureInstruction, HasItsHandleAndItsCoordinatesAsTwoOperands) {
  const Instruction tex = parsed_instruction("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%d1, {%f5, %f6}];");
  ASSERT_EQ(tex.operands.size(), 4u);
  EXPECT_TRUE(std::holds_alternative<VectorOperand>(tex.operands[0].value));
  EXPECT_TRUE(std::holds_alternative<Register>(tex.operands[1].value));
  EXPECT_TRUE(std::holds_alternative<Register>(tex.operands[2].value));
  EXPECT_EQ(std::get<VectorOperand>(tex.operands[3].value).elements.size(), 2u);
}

TEST(TextureInstruction, IgnoresFurtherElementsOfAVectorOfCoordinates) {
  for (const char* statement : {
           "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}];",
           "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6, %f7, %f8}];",
           "tex.a1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r5, %r6, %r7, %r8}];",
           "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6, %f7, %f8}];",
           "suld.b.2d.b32.trap {%r1}, [%d1, {%r5, %r6, %r7, %r8}];",
           "sust.b.1d.b32.trap [%d1, {%r5, %r6}], {%r1};",
       })
    EXPECT_EQ(kernel_error(statement), "") << statement;
  const Instruction tex = parsed_instruction("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6, %f7, %f8}];");
  ASSERT_EQ(tex.operands.size(), 3u);
  EXPECT_EQ(std::get<VectorOperand>(tex.operands[2].value).elements.size(), 2u);
  EXPECT_EQ(kernel_error("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6, %f7}];"),
            "line 12, column 47: error: 'tex.2d.v4.f32.f32' needs a vector of 2 elements here");
  EXPECT_EQ(kernel_error("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6, %f7, %r8}];"),
            "line 12, column 63: error: '%r8' is a .u32, 'tex.2d.v4.f32.f32' needs a .f32 here");
}

TEST(TextureInstruction, ChecksCoordinatesByTheGeometry) {
  EXPECT_EQ(kernel_error("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, {%f1}];"),
            "line 12, column 44: error: 'tex.2d.v4.f32.f32' needs a vector of 2 elements here");
  EXPECT_EQ(kernel_error("tex.a2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, {%f1,%f1,%f2,%f2}];"),
            "line 12, column 46: error: '%f1' is a .f32, 'tex.a2d.v4.f32.f32' needs a .u32 here");
  EXPECT_EQ(kernel_error("tex.grad.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, {%f1,%f2}], {%f1}, {%f2,%f3};"),
            "line 12, column 61: error: 'tex.grad.2d.v4.f32.f32' needs a vector of 2 elements here");
}

TEST(TextureInstruction, HasNeitherOffsetsNorDepthsYet) {
  const std::string refusal = "with an offset or a depth to compare with";
  EXPECT_EQ(kernel_error("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}], {%r1, %r2};"),
            "line 12, column 60: error: softgpu does not run 'tex.2d.v4.f32.f32' " + refusal);
  EXPECT_EQ(kernel_error("tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%d1, {%f5, %f6}], %f7, {%r1, %r2};"),
            "line 12, column 75: error: softgpu does not run 'tex.level.2d.v4.f32.f32' " + refusal);
  EXPECT_EQ(kernel_error("tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}], %f7;"),
            "line 12, column 63: error: softgpu does not run 'tld4.r.2d.v4.f32.f32' " + refusal);
  const ParseResult result = parse(kernel_with("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5}], {%r1};"));
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].cause, Diagnostic::Cause::unsupported);
}

TEST(TextureInstruction, MovesNoMoreThan128BitsOfASurface) {
  EXPECT_EQ(kernel_error("suld.b.1d.v4.b64.trap {%d1, %d2, %d3, %d4}, [%d1, {%r1}];"),
            "line 12, column 1: error: 'suld.b.1d.v4.b64.trap' is too large: vectors have up to 128 bits");
  EXPECT_EQ(kernel_error("sust.b.1d.v4.b64.trap [%d1, {%r1}], {%d1, %d2, %d3, %d4};"),
            "line 12, column 1: error: 'sust.b.1d.v4.b64.trap' is too large: vectors have up to 128 bits");
}

TEST(TextureInstruction, NeedsAHandleInBrackets) {
  EXPECT_EQ(kernel_error("tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%r1, {%f1}];"),
            "line 12, column 39: error: '%r1' is a .u32, 'tex.1d.v4.f32.f32' needs a .u64 here");
  EXPECT_EQ(kernel_error("tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [table, {%f1}];"),
            "line 12, column 39: error: 'tex.1d.v4.f32.f32' needs a register or a constant here, not an address");
  EXPECT_EQ(kernel_error("tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1];"),
            "line 12, column 42: error: expected ',' between the texture or surface and the coordinates, found ']'");
  EXPECT_EQ(kernel_error("tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, %d1, {%f1};"),
            "line 12, column 38: error: expected '[' before the texture or surface, found '%d1'");
  EXPECT_EQ(kernel_error("suld.b.1d.b32.trap;"), "line 12, column 19: error: expected an operand, found ';'");
}

}  // namespace
}  // namespace softgpu::ptx
