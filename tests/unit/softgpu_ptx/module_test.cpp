// What stands around functions: header, debug information, aliases.
#include "tests/unit/softgpu_ptx/ptx_text.hpp"

namespace softgpu::ptx {
namespace {

TEST(ModuleHeader, HoldsVersionAndTarget) {
  const Module module = parsed(".version 9.0\n.target sm_90a, debug\n.address_size 64\n");
  EXPECT_EQ(module.version_major, 9u);
  EXPECT_EQ(module.version_minor, 0u);
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_EQ(module.compute_capability, 90u);
}

TEST(ModuleHeader, TakesAllVersionsUpToNine) {
  for (const char* version : {"1.0", "1.4", "2.3", "6.5", "7.8", "8.7", "9.0", "9.9"})
    EXPECT_EQ(first_error(".version " + std::string(version) + "\n.target sm_50\n"), "") << version;
}

TEST(ModuleHeader, SaysWhenAVersionOrTargetIsTooNew) {
  const ParseResult version = parse(".version 10.1\n.target sm_90\n");
  ASSERT_EQ(version.diagnostics.size(), 1u);
  EXPECT_EQ(version.diagnostics[0].cause, Diagnostic::Cause::version);
  EXPECT_EQ(to_string(version.diagnostics[0]),
            "line 1, column 10: error: PTX version 10.1 is newer than softgpu knows (9.x)");
  const ParseResult target = parse(".version 9.0\n.target sm_999\n");
  ASSERT_EQ(target.diagnostics.size(), 1u);
  EXPECT_EQ(target.diagnostics[0].cause, Diagnostic::Cause::version);
  EXPECT_EQ(to_string(target.diagnostics[0]), "line 2, column 9: error: softgpu does not know the target 'sm_999'");
}

TEST(ModuleHeader, IsNeeded) {
  EXPECT_EQ(first_error(""),
            "line 1, column 1: error: expected '.version', with which a PTX module starts, found the end of the text");
  EXPECT_EQ(first_error("hello"),
            "line 1, column 1: error: expected '.version', with which a PTX module starts, found 'hello'");
  EXPECT_EQ(first_error(".version x"), "line 1, column 10: error: expected the PTX version, such as 9.0, found 'x'");
  EXPECT_EQ(first_error(".version 0.9\n.target sm_90"), "line 1, column 10: error: there is no PTX version 0.9");
  EXPECT_EQ(first_error(".version 8.0\n.entry"),
            "line 2, column 1: error: expected '.target' behind the version, found '.entry'");
  EXPECT_EQ(first_error(".version 8.0\n.target foo"),
            "line 2, column 9: error: unknown target 'foo'; expected one such as sm_90");
}

TEST(ModuleHeader, Refuses32BitAddresses) {
  const ParseResult result = parse(".version 2.3\n.target sm_20\n.address_size 32\n");
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].cause, Diagnostic::Cause::unsupported);
  EXPECT_EQ(first_error(".version 2.3\n.target sm_20\n.address_size 16\n"),
            "line 3, column 15: error: the address size is 32 or 64, not 16");
}

TEST(ModuleHeader, MayBeFollowedByNulls) {
  std::string text(kHeader);
  text.append(3, '\0');
  EXPECT_TRUE(parse(text).module.has_value());
}

TEST(DebugInformation, IsSkipped) {
  const Module module = parsed(std::string(kHeader) + R"(
.file 1 "/tmp/a.cu", 1700000000, 1234
.file 2 "/tmp/b.cu"
.pragma "nounroll";
.visible .entry k()
{
  .loc 1 3 5
  .loc 1 3
$L__tmp0:
  .loc 2 4 6, function_name $L__info_string0, inlined_at 1 7 8
  .loc 2 4 6, function_name $L__info_string0+16, inlined_at 1 7 8
  .pragma "used_bytes_mask 0xff";
  ret;
$L__func_end0:
}
.section .debug_str
{
$L__info_string0:
.b8 95,90,52,0
.b32 .debug_abbrev
.b64 $L__tmp0
}
.section .debug_loc { }
@@DWARF .section .debug_pubnames, "", @progbits
@@DWARF .byte 0x2b, 0x00, {
)");
  ASSERT_EQ(module.functions.size(), 1u);
  EXPECT_EQ(module.functions[0].body.size(), 1u);
}

TEST(DebugInformation, HasItsForm) {
  const std::string header(kHeader);
  EXPECT_EQ(first_error(header + ".file x"), "line 4, column 7: error: expected the number of the file, found 'x'");
  EXPECT_EQ(first_error(header + ".file 1 x"),
            "line 4, column 9: error: expected the name of the file, in quotes, found 'x'");
  EXPECT_EQ(first_error(header + ".section .debug_str {"),
            "line 4, column 22: error: expected '}', found the end of the text");
  EXPECT_EQ(first_error(header + ".pragma 5;"),
            "line 4, column 9: error: expected the text of the pragma, in quotes, found '5'");
}

TEST(Module, SuggestsDirectives) {
  EXPECT_EQ(first_error(std::string(kHeader) + ".visble .entry k() {}"),
            "line 4, column 1: error: unknown directive '.visble'; did you mean '.visible'?");
  EXPECT_EQ(first_error(std::string(kHeader) + "add.s32"),
            "line 4, column 1: error: expected a directive such as '.visible .entry' or '.global', found 'add'");
}

TEST(Module, RefusesTextures) {
  const ParseResult result = parse(std::string(kHeader) + ".tex .u32 image;\n.global .texref other;\n");
  ASSERT_EQ(result.diagnostics.size(), 2u);
  EXPECT_EQ(result.diagnostics[0].cause, Diagnostic::Cause::unsupported);
  EXPECT_EQ(result.diagnostics[1].cause, Diagnostic::Cause::unsupported);
}

TEST(Alias, StandsForItsFunction) {
  const Module module = parsed(std::string(kHeader) + R"(
.func original();
.func first();
.func second();
.func user() { .reg .u64 %d; call first; call second; mov.u64 %d, second; ret; }
.global .u64 pointer = first;
.alias first, original;
.alias second, first;
)");
  const std::vector<Instruction>& body = module.functions[3].body;
  EXPECT_EQ(std::get<Symbol>(body[0].call->callee).index, 0u);
  EXPECT_EQ(std::get<Symbol>(body[1].call->callee).index, 0u);
  EXPECT_EQ(std::get<Symbol>(std::get<Address>(body[2].operands[1].value).base).index, 0u);
  EXPECT_EQ(module.variables[0].relocations[0].target.index, 0u);
  EXPECT_EQ(first_error(std::string(kHeader) + ".alias a, b;"), "line 4, column 8: error: 'a' is not a function");
}

}  // namespace
}  // namespace softgpu::ptx
